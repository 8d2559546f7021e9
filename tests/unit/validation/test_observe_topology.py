"""V9: topology: observations against expectations, right and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.validation.beds import TWO, Seen, pinned, waiting_gang
from tests.unit.validation.double import Double, node
from validation import names
from validation.compare import differences
from validation.expect import topology as expect_topology
from validation.observe import nodes, topology

TOPOLOGY = expect_topology.plan(TWO)


SAYS = "topology runai-kit-topology, requirement runai-kit.io/rack couldn't be satisfied for job <a/b>"


def racked() -> Double:
    cluster = Double()
    for number, rack in enumerate(expect_topology.RACKS, 1):
        labels = {nodes.HOSTNAME: f"w{number}", names.BLOCK_LABEL: "b", names.RACK_LABEL: rack}
        cluster.add(names.NODES, node(f"w{number}", 4, labels=labels))
    return cluster.add(
        names.PODS, pinned("f1", "w1", 3, "topology", "filler"), pinned("f2", "w2", 2, "topology", "filler")
    )


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("message", "scheduled", "wrong"),
    [
        (SAYS, False, set()),
        (SAYS, True, {"everScheduled"}),
        ("0/3 nodes are available: 3 Insufficient nvidia.com/gpu", False, {"message"}),
    ],
)
def test_an_impossible_rack_has_its_own_reason(
    tmp_path: Path, message: str, scheduled: bool, wrong: set[str]
) -> None:
    mine, of_gang = waiting_gang("topology", "impossible", 3, "PodSchedulingErrors", message)
    cluster = racked().add(names.PODS, *mine).add(names.POD_GROUPS, of_gang)
    seen = Seen(tmp_path, "topology")
    for number in (1, 2, 3):
        seen.line(1, f"runai-kit-impossible-{number}", "impossible", scheduled=scheduled)
    found = topology.impossible(cluster.at(), seen.watched, "impossible")
    faults = differences(expect_topology.expected(TOPOLOGY)["topology.impossible"], found)
    assert {f.partition(":")[0] for f in faults} == wrong
    assert found["freeInBlock"] == 3


@pytest.mark.req("V9")
@pytest.mark.parametrize(("places", "right"), [(["w2", "w2"], True), (["w1", "w2"], False), (["w2"], False)])
def test_a_gang_in_one_rack_is_told_from_a_split_one(places: list[str], right: bool) -> None:
    cluster = racked()
    for number, place in enumerate(places):
        cluster.add(names.PODS, pinned(f"r{number}", place, 1, "topology", "required"))
    found = topology.placed(cluster.at(), "required")
    assert (differences(expect_topology.expected(TOPOLOGY)["topology.required"], found) == []) is right
