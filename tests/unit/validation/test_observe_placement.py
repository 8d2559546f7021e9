"""V9: placement: observations against expectations, right and wrong."""

from __future__ import annotations

import pytest

from tests.unit.validation.beds import ONE, TWO, pinned, workers
from tests.unit.validation.double import pod, thing
from validation import names
from validation.compare import differences
from validation.expect import placement as expect_placement
from validation.observe import placement


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("stack", "live", "places", "wrong"),
    [
        ("binpack", "binpack", ["w1", "w1"], set()),
        ("binpack", "binpack", ["w1", "w2"], {"placement.pods"}),
        ("spread", "spread", ["w1", "w2"], set()),
        ("binpack", "spread", ["w1", "w2"], {"placement.setting", "placement.pods"}),
    ],
)
def test_the_strategy_is_the_stacks(stack: str, live: str, places: list[str], wrong: set[str]) -> None:
    cluster = workers(4, 4).add(
        names.SHARDS,
        thing("pool", spec={"partitionLabelValue": "pool", "placementStrategy": {"gpu": "spread"}}),
        thing("default", spec={"placementStrategy": {"gpu": live}}),
    )
    for number, place in enumerate(places):
        cluster.add(names.PODS, pinned(f"p{number}", place, 1, "placement", "pod"))
    wanted = expect_placement.expected(expect_placement.plan(TWO, stack, True))
    found = placement.observe(cluster.at(), "node")
    assert {check for check in wanted if differences(wanted[check], found[check])} == wrong


@pytest.mark.req("V9")
def test_halves_on_one_node_share_a_gpu_or_do_not() -> None:
    cluster = workers(8).add(names.SHARDS, thing("default", spec={}))
    for name, of_gpu in (("a", "g1"), ("b", "g1")):
        one = pod(f"runai-kit-{name}", test="placement", role="pod", labels={names.GPU_GROUP_LABEL: of_gpu})
        cluster.add(names.PODS, one)
    packed = expect_placement.expected(expect_placement.plan(ONE, "binpack", True))
    spread = expect_placement.expected(expect_placement.plan(ONE, "spread", True))
    found = placement.observe(cluster.at(), "gpu")
    assert differences(packed["placement.pods"], found["placement.pods"]) == []
    assert differences(spread["placement.pods"], found["placement.pods"]) != []


@pytest.mark.req("V9")
def test_two_pods_without_a_group_are_not_on_one_gpu() -> None:
    cluster = workers(8).add(names.SHARDS, thing("default", spec={}))
    for name in ("a", "b"):
        cluster.add(names.PODS, pod(f"runai-kit-{name}", test="placement", role="pod"))
    packed = expect_placement.expected(expect_placement.plan(ONE, "binpack", True))
    found = placement.observe(cluster.at(), "gpu")
    assert differences(packed["placement.pods"], found["placement.pods"]) != []
