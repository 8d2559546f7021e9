"""V9: priority: observations against expectations, right and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.validation.beds import TWO, Seen, pinned, workers
from tests.unit.validation.double import Double, group, pod, queue, reason
from validation import names
from validation.compare import differences
from validation.expect import priority as expect_priority
from validation.observe import priority

PRIORITY = expect_priority.plan(TWO)


def full_queue(trains: int, builds: int) -> Double:
    cluster = workers(4, 4)
    for n in range(trains):
        cluster.add(names.PODS, pinned(f"t{n}", "w1", 1, "priority", "train"))
    for n in range(builds):
        cluster.add(names.PODS, pinned(f"b{n}", "w2", 1, "priority", "build"))
    held = queue(expect_priority.QUEUE, quota=1, limit=2, allocated=str(trains + builds))
    held["status"]["allocatedNonPreemptible"] = {"nvidia.com/gpu": str(builds)}
    return cluster.add(names.QUEUES, held)


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("trains", "builds", "gone", "right"),
    [
        (1, 1, ["train"], True),
        (0, 1, ["train", "train"], False),
        (2, 0, [], False),
        (1, 1, ["train", "build"], False),
    ],
)
def test_a_build_takes_the_place_of_exactly_one_train(
    tmp_path: Path, trains: int, builds: int, gone: list[str], right: bool
) -> None:
    seen = Seen(tmp_path, "priority")
    for number, role in enumerate(gone):
        seen.line(1, f"gone-{number}", role, "Running").line(
            12, f"gone-{number}", role, "Running", deleting=True
        )
    # Before the build came; not its doing.
    seen.line(1, "old", "train", "Running").line(9, "old", "train", "Running", deleting=True)
    found = priority.preempts(full_queue(trains, builds).at(), seen.watched, since=10.0)
    faults = differences(expect_priority.expected(PRIORITY)["priority.preempts"], found)
    assert (faults == []) is right, faults


@pytest.mark.req("V9")
def test_a_late_train_waits_and_the_build_is_the_same(tmp_path: Path) -> None:
    cluster = full_queue(1, 1)
    for name, role in (("t9", "train"), ("lt", "late-train")):
        cluster.add(
            names.PODS,
            pod(f"runai-kit-{name}", on=None, gpus=1, phase="Pending", test="priority", role=role),
        )
    uids = {"runai-team-a/runai-kit-b0": "uid-runai-kit-b0"}
    watched = Seen(tmp_path, "priority").watched
    found = priority.protected(cluster.at(), watched, uids, 20.0)
    wanted = expect_priority.expected(PRIORITY)["priority.protected"]
    assert differences(wanted, found) == []
    replaced = priority.protected(cluster.at(), watched, {"runai-team-a/runai-kit-b0": "uid-older"}, 20.0)
    assert differences(wanted, replaced) == ["sameBuilds: expected True, found False"]


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("why", "trains", "right"),
    [("NonPreemptibleOverQuota", 0, True), ("OverLimit", 0, False), ("NonPreemptibleOverQuota", 1, False)],
)
def test_a_late_build_waits_for_quota_and_not_for_room(why: str, trains: int, right: bool) -> None:
    cluster = full_queue(trains, 1)
    late = pod("runai-kit-lb", on=None, gpus=1, phase="Pending", test="priority", role="late-build")
    status = {"schedulingConditions": [reason(why, expect_priority.QUEUE)]}
    cluster.add(names.PODS, late)
    cluster.add(names.POD_GROUPS, group("runai-kit-lb", expect_priority.QUEUE, status=status))
    wanted = expect_priority.expected(PRIORITY)["priority.quota"]
    assert (differences(wanted, priority.quota(cluster.at())) == []) is right
