"""A verdict is worth what its failure is: the cluster is changed, and the right check must fail.

Nothing here touches the suite or its input; each change is taken back whatever happens.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import seen
from tests.acceptance.conftest import ROOT, Kubectl
from validation.settings import StackOutputs

Json = dict[str, Any]
UUID_KEY = "run.ai/reserve_for_gpu_index"


def prove(
    playbook: str,
    outputs: StackOutputs,
    folder: Path,
    tags: str = "all",
    variables: Json | None = None,
) -> tuple[int, dict[str, Json]]:
    """Run one playbook of the suite as people do; its exit code and its checks by id."""
    command = ["ansible-playbook", "-i", f"inventory/{outputs.environment}", f"validation/{playbook}.yml"]
    options = ["-e", json.dumps({"kit_report_dir": str(folder), **(variables or {})}), "--tags", tags]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, timeout=900)
    report = folder / "report.json"
    assert report.exists(), done.stdout[-3000:] + done.stderr[-1000:]
    checks = {check["id"]: check for check in json.loads(report.read_text())["checks"]}
    seen.note(checks)
    return done.returncode, checks


def failed(checks: dict[str, Json]) -> set[str]:
    return {name for name, check in checks.items() if check["verdict"] == "fail"}


@contextmanager
def changed_queue(kubectl: Kubectl, queue: str, gpu: Json) -> Iterator[None]:
    """Queue `queue` with other GPU numbers, as somebody might leave it."""
    before = kubectl("get", "queues.scheduling.run.ai", queue)["spec"]["resources"]["gpu"]
    patch(kubectl, "queues.scheduling.run.ai", queue, {"spec": {"resources": {"gpu": gpu}}})
    try:
        yield
    finally:
        patch(kubectl, "queues.scheduling.run.ai", queue, {"spec": {"resources": {"gpu": before}}})


def patch(kubectl: Kubectl, kind: str, name: str, change: Json, *where: str) -> None:
    kubectl("patch", kind, name, *where, "--type=merge", "-p", json.dumps(change), "-o", "json")


@contextmanager
def in_background(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Runs `work` until the block ends; what it raises is raised here."""
    stop, problems = threading.Event(), []

    def guarded() -> None:
        try:
            work(stop)
        except Exception as error:
            problems.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=30)
    assert problems == []


@pytest.mark.req("V2")
@pytest.mark.negative("fractional_gpu.uuid")
def test_a_swapped_uuid_fails_fractional(kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path) -> None:
    where = ("-n", outputs.reservationNamespace)
    swapped: list[str] = []

    def swap(stop: threading.Event) -> None:
        """After the first half got its GPU, say that the reservation is for another one of the node."""
        while not stop.wait(0.2):
            for pod in kubectl("get", "pods", *where)["items"]:
                uuid = (pod["metadata"].get("annotations") or {}).get(UUID_KEY)
                name = pod["metadata"]["name"]
                if not uuid or name in swapped or not running(pod):
                    continue
                other = "GPU-00000000-0000-0000-0000-000000000000"
                patch(kubectl, "pod", name, {"metadata": {"annotations": {UUID_KEY: other}}}, *where)
                swapped.append(name)

    def running(reservation: Json) -> bool:
        group = reservation["metadata"]["labels"]["runai-gpu-group"]
        pods = kubectl("get", "pods", "-A", "-l", f"runai-gpu-group={group}")["items"]
        mine = [pod for pod in pods if pod["metadata"]["namespace"] != outputs.reservationNamespace]
        return any(pod["status"].get("phase") == "Running" for pod in mine)

    with in_background(swap):
        code, checks = prove("fractional_gpu", outputs, tmp_path)
    assert swapped
    assert code != 0
    assert "fractional_gpu.uuid" in failed(checks)
    assert checks["fractional_gpu.cleanup"]["verdict"] == "pass"


def wait_for_gpus(kubectl: Kubectl, node: str, count: int, seconds: float = 30) -> None:
    pause = threading.Event()
    for _ in range(int(seconds)):
        allocatable = kubectl("get", "node", node)["status"]["allocatable"]
        if int(allocatable.get("nvidia.com/gpu", 0)) == count:
            return
        pause.wait(1)
    raise AssertionError(f"{node}: expected {count} allocatable GPUs within {seconds} s, found {allocatable}")
