"""V9: node pools: observations against expectations, right and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.validation.beds import TWO, Seen, pinned, pooled
from tests.unit.validation.double import pod
from validation import names
from validation.compare import differences
from validation.expect import node_pools as expect_pools
from validation.observe import node_pools

POOLS = expect_pools.plan(TWO)


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("other", "scheduled", "right"), [("w2", False, True), ("w1", False, False), ("w2", True, False)]
)
def test_work_of_the_default_pool_stays_out(tmp_path: Path, other: str, scheduled: bool, right: bool) -> None:
    cluster = pooled().add(
        names.PODS,
        pod("runai-kit-stray", on=None, gpus=1, phase="Pending", test="node_pools", role="stray"),
        pinned("other", other, 1, "node_pools", "other"),
    )
    seen = Seen(tmp_path, "node_pools").line(1, "runai-kit-stray", "stray", scheduled=scheduled)
    found = node_pools.outside(cluster.at(), seen.watched, expect_pools.POOL)
    wanted = expect_pools.expected(POOLS)
    assert (differences(wanted["node_pools.outside"], found) == []) is right
    assert (
        differences(wanted["node_pools.scheduler"], node_pools.scheduler(cluster.at(), expect_pools.POOL))
        == []
    )


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("place", "excess", "right"), [("w1", None, True), ("w2", None, False), ("w1", "w2", False)]
)
def test_work_of_the_pool_stays_in(tmp_path: Path, place: str, excess: str | None, right: bool) -> None:
    phase = "Running" if excess else "Pending"
    cluster = pooled().add(
        names.PODS,
        pinned("inside", place, 4, "node_pools", "inside"),
        pod("runai-kit-excess", on=excess, gpus=1, phase=phase, test="node_pools", role="excess"),
    )
    seen = Seen(tmp_path, "node_pools").line(1, "runai-kit-excess", "excess", phase)
    found = node_pools.inside(cluster.at(), seen.watched)
    assert (differences(expect_pools.expected(POOLS)["node_pools.inside"], found) == []) is right


@pytest.mark.req("V9")
def test_a_shard_without_a_scheduler_is_not_ready() -> None:
    cluster = pooled()
    cluster.objects[names.DEPLOYMENTS].clear()
    assert node_pools.scheduler(cluster.at(), expect_pools.POOL)["ready"] == 0
    assert node_pools.scheduler(cluster.at(), "nothing")["pool"] == ""
