"""V9 in both directions: what the scheduler's own settings decide, changed in its SchedulingShard.

Each change is taken back whatever happens. Waiting is cut short by outputs with a lower time-out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.acceptance.changing import exists, run, when
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, in_background, patch
from validation.settings import StackOutputs

pytestmark = pytest.mark.usefixtures("looked_at")

SHARD = "schedulingshards.kai.scheduler"


@contextmanager
def placed(kubectl: Kubectl, strategy: str) -> Iterator[None]:
    """The default shard with another GPU placement; its scheduler is restarted by the operator."""
    before = kubectl("get", SHARD, "default")["spec"].get("placementStrategy")
    patch(kubectl, SHARD, "default", {"spec": {"placementStrategy": {"gpu": strategy}}})
    try:
        settled(kubectl, strategy)
        yield
    finally:
        patch(kubectl, SHARD, "default", {"spec": {"placementStrategy": before}})
        settled(kubectl, (before or {}).get("gpu", "binpack"))


def settled(kubectl: Kubectl, strategy: str, seconds: int = 60) -> None:
    """Until the scheduler's config map has the strategy and its only pod, with that map, is ready."""
    pause, where = threading.Event(), ("-n", "kai-scheduler")
    plugin = {"binpack": "gpupack", "spread": "gpuspread"}[strategy]
    for _ in range(seconds):
        config = kubectl("get", "configmap", "kai-scheduler-default", *where)
        pods = kubectl("get", "pods", *where, "-l", "app=kai-scheduler-default")["items"]
        version = config["metadata"]["resourceVersion"]
        ready = [c["status"] for p in pods for c in p["status"].get("conditions", []) if c["type"] == "Ready"]
        used = [p["metadata"]["annotations"].get("configMapVersion") for p in pods]
        if plugin in config["data"]["config.yaml"] and ready == ["True"] and used == [version]:
            return
        pause.wait(1)
    raise AssertionError(f"the scheduler did not come up with {strategy} within {seconds} s")


@pytest.mark.req("V9")
@pytest.mark.negative("placement.setting", "placement.pods")
def test_placement_follows_the_live_strategy_and_fails_where_the_stack_says_otherwise(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    other = "spread" if outputs.placement.gpu == "binpack" else "binpack"
    with placed(kubectl, other):
        wrong = run("placement", outputs, tmp_path)
        right = run("placement", outputs, tmp_path, placement={"gpu": other, "cpu": outputs.placement.cpu})
    assert failed(wrong) & {"placement.setting", "placement.pods"} == {"placement.setting", "placement.pods"}
    assert not {check for check in failed(right) if check.startswith("placement.")}
    assert right["placement.pods"]["observed"]["distinct"] != wrong["placement.pods"]["expected"]["distinct"]


@pytest.mark.req("V9")
@pytest.mark.negative("fair_share_over_time.shifted")
def test_a_scheduler_to_which_the_past_means_nothing_fails_fair_share_over_time(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    name = "runai-kit-fair-share-over-time"

    def work(stop: threading.Event) -> None:
        forget = {"spec": {"kValue": 0}}
        when(stop, exists(kubectl, SHARD, name), lambda _: patch(kubectl, SHARD, name, forget))

    with in_background(work):
        checks = run("fair_share_over_time", outputs, tmp_path)
    assert "fair_share_over_time.shifted" in failed(checks)
    assert checks["fair_share_over_time.even"]["verdict"] == "pass"
    assert checks["fair_share_over_time.cleanup"]["verdict"] == "pass"
