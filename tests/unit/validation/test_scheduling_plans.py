"""Plans of the scheduling tests for any cluster: they fit what is free, or say in numbers why they cannot."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validation.expect import (
    coexistence,
    combined_state,
    fair_share_over_time,
    fallbacks,
    gang,
    node_pools,
    placement,
    priority,
    topology,
)
from validation.expect.nodes import Bed, GpuNode
from validation.expect.over_quota import ImpossibleError
from validation.expect.plans import PLANS
from validation.settings import StackOutputs, load

Json = dict[str, Any]
T = TypeVar("T")
OUTPUTS: Json = json.loads((Path(__file__).parent / "data/outputs.json").read_text())


def node(number: int, gpus: int, free: int | None = None) -> GpuNode:
    left = gpus if free is None else free
    return GpuNode(f"w{number}", f"host-{number}", gpus, left, shared=left < gpus)


def bed(*gpus: int, budget: int | None = None) -> Bed:
    nodes = tuple(node(number, count) for number, count in enumerate(gpus, 1))
    return Bed(nodes, sum(gpus) if budget is None else budget, scarce=budget is None)


@st.composite
def beds(draw: st.DrawFn) -> Bed:
    """Up to five nodes of up to sixteen GPUs, partly in use by others, with and without a bound."""
    sizes = draw(st.lists(st.integers(1, 16), max_size=5))
    nodes = tuple(node(n, gpus, draw(st.integers(0, gpus))) for n, gpus in enumerate(sizes, 1))
    free = sum(n.free for n in nodes)
    bound = draw(st.one_of(st.just(free), st.integers(0, free)))
    return Bed(nodes, bound, scarce=bound == free)


def attempt(make: Callable[[], T]) -> T | ImpossibleError:
    """A plan, or why there is none."""
    try:
        return make()
    except ImpossibleError as error:
        return error


def free_of(bed_: Bed, hostname: str) -> int:
    return next(n.free for n in bed_.nodes if n.hostname == hostname)


def has_numbers(error: ImpossibleError, bed_: Bed) -> bool:
    """What was found, node by node, and the bound."""
    return all(f"{n.name}: {n.free} of {n.gpus}" in str(error) for n in bed_.nodes) and (
        f"at most {bed_.budget} may be used" in str(error)
    )


@pytest.mark.req("V9")
@given(beds())
def test_a_gang_misses_exactly_one_gpu_and_uses_no_more_than_allowed(bed_: Bed) -> None:
    made = attempt(lambda: gang.plan(bed_))
    if isinstance(made, ImpossibleError):
        assert has_numbers(made, bed_)
        assert not [n for n in bed_.singles() if n.free >= 2]
        assert not bed_.pairs()
        return
    taken = {f["nodes"][0]: int(f["gpus"]) for f in made.fillers}
    left = {host: free_of(bed_, host) - taken.get(host, 0) for host in made.nodes}
    # All that is free on these nodes is in use, so nothing but the plug decides.
    assert made.held == sum(free_of(bed_, host) for host in made.nodes) <= bed_.budget
    assert sum(left.values()) == gang.PODS * made.size
    (plugged,) = made.plug["nodes"]
    left[plugged] -= 1
    assert sum(count // made.size for count in left.values()) == 1


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("bed_", "size", "nodes"),
    [(bed(4, 4), 3, 2), (bed(8), 3, 1), (bed(4), 2, 1), (bed(2, 2), 2, 2), (bed(8, 8, 8), 7, 2)],
)
def test_gangs_of_known_shapes(bed_: Bed, size: int, nodes: int) -> None:
    made = gang.plan(bed_)
    assert (made.size, len(made.nodes)) == (size, nodes)
    assert gang.expected(made, 60)["gang.waits"]["free"] == 2 * size - 1


@pytest.mark.req("V9")
@given(beds())
def test_a_rack_is_too_small_for_what_the_block_can_hold(bed_: Bed) -> None:
    made = attempt(lambda: topology.plan(bed_))
    if isinstance(made, ImpossibleError):
        assert has_numbers(made, bed_)
        return
    used = sum(r.filler for r in made.racks) + made.tooMany
    assert used <= bed_.budget
    assert all(r.filler + r.leaves == free_of(bed_, r.hostname) for r in made.racks)
    assert max(r.leaves for r in made.racks) >= made.fits
    assert sum(r.leaves for r in made.racks) >= made.tooMany
    if made.late:
        assert len(made.racks) == 1
    else:
        assert max(r.leaves for r in made.racks) < made.tooMany


@pytest.mark.req("V9")
def test_with_two_nodes_the_fuller_rack_tempts_the_gang() -> None:
    made = topology.plan(bed(4, 4))
    assert [r.leaves for r in made.racks] == [1, 2]
    wanted = topology.expected(made)
    assert wanted["topology.required"]["racks"] == [topology.RACKS[1]]
    assert wanted["topology.preferred"]["beyondOneRack"]["racks"] == list(topology.RACKS)


@pytest.mark.req("V9")
def test_with_one_node_the_rack_comes_late() -> None:
    made = topology.plan(bed(8))
    assert made.late
    assert "beyondOneRack" not in topology.expected(made)["topology.preferred"]


@pytest.mark.req("V9")
@given(beds())
def test_priorities_need_two_gpus_and_evict_exactly_who_is_in_the_way(bed_: Bed) -> None:
    made = attempt(lambda: priority.plan(bed_))
    if isinstance(made, ImpossibleError):
        assert bed_.budget < (2 if bed_.scarce else 3)
        assert has_numbers(made, bed_)
        return
    # The build may get its GPU before its victim has given back the one it had.
    assert made.limit + (0 if bed_.scarce else made.evicted) <= bed_.budget
    assert made.trains == made.limit > made.deserved >= made.builds
    assert made.evicted == made.builds


@pytest.mark.req("V9")
@given(beds(), st.booleans(), st.sampled_from(placement.STRATEGIES))
def test_placement_compares_like_with_like(bed_: Bed, sharing: bool, strategy: str) -> None:
    made = attempt(lambda: placement.plan(bed_, strategy, sharing))
    if isinstance(made, ImpossibleError):
        assert has_numbers(made, bed_)
        return
    chosen = [n for n in bed_.nodes if n.hostname in made.nodes]
    assert len({(n.free, n.gpus) for n in chosen}) == 1
    assert all(n.free >= placement.PODS for n in chosen)
    assert (len(chosen), made.over) in ((2, "node"), (1, "gpu"))
    assert sharing or made.over == "node"
    assert placement.expected(made)["placement.pods"]["distinct"] == (1 if strategy == "binpack" else 2)


@pytest.mark.req("V9")
def test_an_unknown_strategy_is_named() -> None:
    with pytest.raises(ImpossibleError, match="found 'random', expected one of binpack, spread"):
        placement.plan(bed(4, 4), "random", True)


@pytest.mark.req("V9")
@given(beds())
def test_the_queue_beside_plain_pods_is_full(bed_: Bed) -> None:
    made = attempt(lambda: coexistence.plan(bed_))
    if isinstance(made, ImpossibleError):
        assert bed_.budget < 1
        return
    assert sum(f["gpus"] for f in made.fillers) == made.limit == bed_.budget
    assert all(f["gpus"] <= free_of(bed_, f["nodes"][0]) for f in made.fillers)


@pytest.mark.req("V9")
@given(beds())
def test_a_pool_is_a_node_that_nobody_else_uses(bed_: Bed) -> None:
    made = attempt(lambda: node_pools.plan(bed_))
    if isinstance(made, ImpossibleError):
        assert has_numbers(made, bed_)
        assert re.search(r"in use by others: ", str(made))
        return
    chosen = next(n for n in bed_.nodes if n.name == made.node)
    assert not chosen.shared
    assert made.fill == chosen.gpus == chosen.free
    assert made.fill + (1 if made.elsewhere else 0) <= bed_.budget
    assert made.elsewhere != made.hostname


@pytest.mark.req("V9")
@given(beds(), st.floats(1, 60))
def test_time_based_shares_have_an_even_number_of_jobs(bed_: Bed, scrape: float) -> None:
    made = attempt(lambda: fair_share_over_time.plan(bed_, scrape))
    if isinstance(made, ImpossibleError):
        assert has_numbers(made, bed_)
        return
    chosen = next(n for n in bed_.nodes if n.name == made.node)
    assert made.units % 2 == 0
    assert 2 <= made.gpus <= chosen.free == chosen.gpus <= bed_.budget
    assert made.window >= 20
    assert made.window >= 4 * made.step


@pytest.mark.req("V9")
def test_without_a_past_time_based_shares_cannot_be_shown() -> None:
    with pytest.raises(ImpossibleError, match="declare the test n/a"):
        fair_share_over_time.plan(bed(4, 4), 0)


@pytest.mark.req("V9")
@given(st.floats(0, 1), st.floats(0, 1))
def test_who_used_less_never_gets_less(one: float, other: float) -> None:
    a, b = fair_share_over_time.shares((one, other))
    assert a + b == pytest.approx(1)
    low, high = (a, b) if one >= other else (b, a)
    assert low <= high + 1e-9


@pytest.mark.req("V9")
def test_from_the_usage_that_is_waited_for_on_the_first_queue_gets_nothing() -> None:
    much, little = fair_share_over_time.MUCH, fair_share_over_time.LITTLE
    assert fair_share_over_time.shares((much, little)) == pytest.approx((0.0, 1.0))
    assert fair_share_over_time.shares((0.5, 0.5)) == (0.5, 0.5)


@pytest.mark.req("V10")
def test_too_big_is_one_more_than_the_biggest_node() -> None:
    made = fallbacks.plan(bed(4, 8))
    assert made.tooBig == 9
    tried = fallbacks.origins("ns", "")
    assert [t.rpartition(":")[2] for t in tried] == ["8081", "8082", "8080"]
    wanted = fallbacks.expected(made, "word", tried, own_mirror=True)
    assert wanted["fallbacks.mirror"]["failedOrigins"] == tried[:2]
    assert wanted["fallbacks.mirror"]["filesFromMirror"] == fallbacks.FILES
    public = fallbacks.origins("ns", "https://mirror")
    assert "filesFromMirror" not in fallbacks.expected(made, "w", public, False)["fallbacks.mirror"]
    with pytest.raises(ImpossibleError, match="needs 1 free GPUs"):
        fallbacks.plan(bed())


def outputs(first: Json | None = None, second: Json | None = None, third: Json | None = None) -> StackOutputs:
    """Departments and their projects with other numbers, `third` for the project without a limit."""
    raw: Json = json.loads(json.dumps(OUTPUTS))
    for index, gpu in ((0, first), (1, second)):
        if gpu:
            raw["departments"][index]["gpu"].update(gpu)
            raw["projects"][index]["gpu"].update(gpu)
    if third:
        raw["projects"][2]["gpu"].update(third)
    return load(raw)


@pytest.mark.req("V14")
def test_the_guides_numbers_on_eight_gpus() -> None:
    made = combined_state.plan(outputs(), bed(4, 4))
    assert (made.wholeFirst, made.wholeSecond, made.halves, made.serving) == (4, 2, 2, 1)
    assert made.devices == 8
    departments, projects = combined_state.rows(made)
    assert [(r.name, r.allocated, r.quota, r.percent) for r in departments] == [
        ("engineering", 4, 2, 200.0),
        ("research", 3, 2, 150.0),
        ("default", 1, -1, None),
    ]
    assert [(r.name, r.allocated, r.percent) for r in projects] == [
        ("team-a", 4, 200.0),
        ("team-b", 3, 150.0),
        ("test", 1, 50.0),
    ]


@pytest.mark.req("V14")
def test_the_guides_percentages_on_four_gpus() -> None:
    quarter = {"deserved": 1, "limit": 2}
    made = combined_state.plan(outputs(quarter, quarter, {"deserved": 1}), bed(4))
    assert (made.wholeFirst, made.wholeSecond, made.halves, made.serving) == (2, 1, 1, 0.5)
    assert made.devices == 4
    assert [r.percent for r in combined_state.rows(made)[1]] == [200.0, 150.0, 50.0]


@pytest.mark.req("V14")
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 12))
def test_the_state_stays_inside_every_bound(first: int, second: int, third: int) -> None:
    stack = outputs(
        {"deserved": first, "limit": 2 * first},
        {"deserved": second, "limit": 2 * second},
        {"deserved": third},
    )
    made = combined_state.plan(stack, bed(64))
    departments, projects = combined_state.rows(made)
    assert departments[0].percent == 200.0
    assert departments[1].percent == 150.0
    # What serves is not preemptible: it has to stay inside its project's quota.
    assert 0 < projects[2].allocated <= third
    assert sum(r.allocated for r in projects) <= made.devices
    with pytest.raises(ImpossibleError, match=f"needs {made.devices} GPUs"):
        combined_state.plan(stack, bed(made.devices - 1))


@pytest.mark.req("V14")
def test_departments_that_cannot_show_it_are_named() -> None:
    with pytest.raises(ImpossibleError, match="team-b hold 3"):
        combined_state.plan(outputs(second={"deserved": 2, "limit": 2}), bed(8))
    with pytest.raises(ImpossibleError, match="project test"):
        combined_state.plan(outputs(third={"deserved": 0}), bed(8))
    limited = outputs().model_copy(update={"departments": outputs().departments[:2]})
    with pytest.raises(ImpossibleError, match="without a GPU limit"):
        combined_state.plan(limited, bed(8))


FACTS: Json = {
    "nodes": [
        {"name": f"w{n}", "hostname": f"host-{n}", "gpus": 4, "free": 4, "shared": False, "pool": ""}
        for n in (1, 2)
    ],
    "plainNodes": ["control-plane"],
    "freeGpus": 8,
    "scarce": True,
}
GIVEN: dict[str, Json] = {
    "placement": {"strategy": "spread"},
    "fair_share_over_time": {"scrapeSeconds": 5},
    "fallbacks": {"token": "word", "namespace": "ns", "mirror": ""},
}


@pytest.mark.req("V9", "V10", "V14")
@pytest.mark.parametrize("test", sorted(PLANS))
def test_plans_expect_only_declared_checks_of_their_test(test: str) -> None:
    from validation import declared

    made = PLANS[test](outputs(), FACTS, GIVEN.get(test, {}))
    known = {check.id for check in declared.tests()[test].checks}
    assert set(made["expected"]) == known - {f"{test}.cleanup"}
    json.dumps(made)


@pytest.mark.req("V9")
def test_gangs_that_must_wait_stay_away_from_nodes_of_others() -> None:
    """Consolidation moves preemptible pods within their quota, too, to make room for a gang."""
    nodes = (node(1, 8, 7), node(2, 4), node(3, 4), node(4, 8, 2))
    lonely = Bed(nodes, sum(n.free for n in nodes))
    assert set(gang.plan(lonely).nodes) == {"host-2", "host-3"}
    assert {rack.node for rack in topology.plan(lonely).racks} == {"w2", "w3"}
    # Where there are no others the test goes on: preflight tells who is at risk.
    assert gang.plan(Bed(nodes[:1] + nodes[3:], 9)).nodes == ["host-4", "host-1"]
