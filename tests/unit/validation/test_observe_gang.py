"""V9: gang: observations against expectations, right and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.validation.beds import TWO, Json, Seen, pinned, waiting_gang, workers
from tests.unit.validation.double import Double, thing
from validation import names
from validation.compare import differences
from validation.expect import gang as expect_gang
from validation.observe import gang

GANG = expect_gang.plan(TWO)


def gang_bed(free: int = 5) -> Double:
    """Fillers leave `free` GPUs of eight; two pods of three wait."""
    cluster = workers(4, 4, 0)
    mine, of_gang = waiting_gang("gang", "gang", 2, "PodSchedulingErrors", "0/3 nodes are available")
    fillers = [pinned("f1", "w1", 1, "gang", "filler"), pinned("f2", "w2", 7 - free, "gang", "filler")]
    return cluster.add(names.PODS, *mine, *fillers).add(names.POD_GROUPS, of_gang)


@pytest.mark.req("V9")
def test_a_gang_that_waits_passes_and_its_reason_is_told_once(tmp_path: Path) -> None:
    seen = Seen(tmp_path, "gang").line(1, "runai-kit-gang-1", "gang").line(1, "runai-kit-gang-2", "gang")
    found = gang.waits(gang_bed().at(), seen.watched, GANG.nodes)
    assert differences(expect_gang.expected(GANG, 60)["gang.waits"], found) == []
    assert found["messages"] == ["0/3 nodes are available"]
    assert len(found["uids"]) == 2


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("moment", "fault"),
    [
        ({"phase": "Running"}, "everRan"),
        # It was given a node and taken back before anybody looked: only the watch knows.
        ({"phase": "Pending", "scheduled": True}, "everScheduled"),
    ],
)
def test_half_a_gang_that_started_for_a_moment_is_a_fail(tmp_path: Path, moment: Json, fault: str) -> None:
    seen = Seen(tmp_path, "gang").line(1, "runai-kit-gang-1", "gang").line(1, "runai-kit-gang-2", "gang")
    seen.line(2, "runai-kit-gang-2", "gang", **moment).line(3, "runai-kit-gang-2", "gang")
    found = gang.waits(gang_bed().at(), seen.watched, GANG.nodes)
    faults = differences(expect_gang.expected(GANG, 60)["gang.waits"], found)
    assert any(f.startswith(fault) for f in faults), faults


@pytest.mark.req("V9")
def test_a_gang_that_was_not_watched_or_not_short_of_a_gpu_is_a_fail(tmp_path: Path) -> None:
    wanted = expect_gang.expected(GANG, 60)["gang.waits"]
    half = Seen(tmp_path, "gang").line(1, "runai-kit-gang-1", "gang")
    assert "watched" in differences(wanted, gang.waits(gang_bed().at(), half.watched, GANG.nodes))[0]
    whole = half.line(1, "runai-kit-gang-2", "gang")
    found = gang.waits(gang_bed(free=6).at(), whole.watched, GANG.nodes)
    assert differences(wanted, found) == ["free: expected 5, found 6"]


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("places", "again", "apart", "wrong"),
    [
        (["w1", "w2"], False, 0.5, set()),
        (["w1", "w1"], False, 0.5, {"nodes"}),
        (["w1"], False, 0.5, {"running", "gpusEach", "nodes", "samePods", "apartSeconds"}),
        (["w1", "w2"], True, 0.5, {"samePods"}),
        (["w1", "w2"], False, 90.0, {"apartSeconds"}),
    ],
)
def test_the_same_gang_starts_as_a_whole(
    tmp_path: Path, places: list[str], again: bool, apart: float, wrong: set[str]
) -> None:
    cluster = workers(4, 4)
    seen = Seen(tmp_path, "gang")
    for number, place in enumerate(places, 1):
        one = pinned(f"gang-{number}", place, 3, "gang", "gang")
        one["metadata"]["annotations"][names.POD_GROUP_ANNOTATION] = "pg-runai-kit-gang"
        cluster.add(names.PODS, one)
        seen.line(10, f"runai-kit-gang-{number}", "gang")
        seen.line(10 + number * apart, f"runai-kit-gang-{number}", "gang", "Running")
    cluster.add(names.POD_GROUPS, thing("pg-runai-kit-gang", "runai-team-a", spec={"minMember": 2}))
    before = {f"runai-team-a/runai-kit-gang-{n}": f"uid-runai-kit-gang-{n}" for n in (1, 2)}
    if again:
        before["runai-team-a/runai-kit-gang-1"] = "uid-of-another"
    found = gang.starts(cluster.at(), seen.watched, before)
    faults = differences(expect_gang.expected(GANG, 60)["gang.starts"], found)
    assert {f.partition(":")[0].partition(".")[0] for f in faults} == wrong
