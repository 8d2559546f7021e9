"""Chains on the live cluster: they overlap in time, and one that is killed fails the run and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import ROOT, Kubectl
from validation import names
from validation.chains.schedule import POOL
from validation.settings import StackOutputs

Json = dict[str, Any]
# One test that only holds GPUs, and one that computes.
TAGS = "fallbacks,model_streamer"


def prove(
    outputs: StackOutputs, folder: Path, meanwhile: Callable[[], None] | None = None
) -> tuple[int, Json, str]:
    """Exit code, report and console of a run as `make validate` does it."""
    command = [sys.executable, "-m", "validation.prove", outputs.environment, "--tags", TAGS]
    environment = {**os.environ, "KIT_REPORT_DIR": str(folder)}
    log = folder.parent / "console.txt"
    with log.open("w") as stream:
        run = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=stream, stderr=subprocess.STDOUT)
        try:
            if meanwhile:
                meanwhile()
            code = run.wait(timeout=600)
        finally:
            if run.poll() is None:
                run.terminate()
                run.wait(timeout=120)
    text = log.read_text()
    assert (folder / "report.json").exists(), text[-3000:]
    return code, json.loads((folder / "report.json").read_text()), text


def until(condition: Callable[[], Any], what: str, seconds: float = 300) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not come within {seconds:g} s"
        time.sleep(0.5)
    return found


def verdicts(report: Json, test: str) -> set[str]:
    return {check["verdict"] for check in report["checks"] if check["test"] == test}


def nothing_is_left(kubectl: Kubectl, outputs: StackOutputs) -> None:
    selector = f"{names.PART_OF_LABEL}={names.PART_OF}"
    kinds = "pods,jobs,configmaps,secrets,persistentvolumeclaims,services"
    assert kubectl("get", kinds, "-A", "-l", selector)["items"] == []
    assert (
        kubectl("get", "schedulingshards.kai.scheduler,queues.scheduling.run.ai", "-l", selector)["items"]
        == []
    )
    assert kubectl("get", "nodes", "-l", f"{outputs.nodePoolLabelKey}={POOL}")["items"] == []


@pytest.mark.req("V12")
def test_chains_overlap_in_time_on_nodes_of_their_own(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    code, report, console = prove(outputs, tmp_path / "report")
    tests = {test["name"]: test for test in report["tests"]}
    gpu, cpu = tests["fallbacks"], tests["model_streamer"]
    assert code == 2, "nothing failed; tests that were not chosen are skipped"
    assert (gpu["chain"], cpu["chain"], tests["preflight"]["chain"]) == ("gpu", "cpu", "alone")
    assert max(gpu["begun"], cpu["begun"]) < min(gpu["ended"], cpu["ended"]), "both were running"
    assert tests["preflight"]["ended"] <= min(gpu["begun"], cpu["begun"])
    assert "to itself" in report["chains"]
    assert " gpu | " in console
    assert " cpu | " in console
    nothing_is_left(kubectl, outputs)


@pytest.mark.req("V12")
def test_a_killed_chain_fails_the_run_and_the_records_of_the_other_survive(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    folder = tmp_path / "report"

    def of_the_chain() -> list[int]:
        """Processes of this run's chain cpu that make its pods."""
        selector = f"{names.TEST_LABEL}=model_streamer"
        if not kubectl("get", "pods", "-A", "-l", selector)["items"]:
            return []
        found = []
        for place in Path("/proc").glob("[0-9]*/environ"):
            try:
                words = place.read_bytes().split(b"\0")
            except OSError:
                continue
            if f"KIT_OUTPUTS_FILE={folder}/chains/cpu.json".encode() in words:
                found.append(int(place.parent.name))
        return found

    def kill() -> None:
        for process in until(of_the_chain, "a pod of chain cpu"):
            os.kill(process, signal.SIGKILL)

    code, report, console = prove(outputs, folder, kill)
    assert code == 1
    assert "fail" in verdicts(report, "model_streamer")
    assert "did not run" in json.dumps([c for c in report["checks"] if c["test"] == "model_streamer"])
    assert verdicts(report, "fallbacks") == {"pass"}
    assert "model_streamer was ended before its last check" in console
    nothing_is_left(kubectl, outputs)
