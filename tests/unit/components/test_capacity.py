"""Counting GPUs per pool, what fake GPUs should give, and the bounded wait for them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from components.capacity import CapacityError, FakeGpuGate, by_pool, expected_gpus, given
from components.cluster import NodeFacts
from tests.stack import EVERYTHING, GPU_NODE, LOCAL, FakeCluster, changed, nodes, settings


class Clock:
    """Moves by a second whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def gate(cluster: FakeCluster, said: list[str], timeout: float = 5) -> FakeGpuGate:
    return FakeGpuGate(cluster, timeout, 0, said.append, Clock())


@pytest.mark.req("I3")
@pytest.mark.parametrize("gpus", [(4, 4), (8,), (4,)])
def test_every_selected_node_is_expected_with_the_default(gpus: tuple[int, ...]) -> None:
    expected = expected_gpus(settings(LOCAL).fake_gpus, nodes(*gpus))
    assert expected == {f"worker{i}": 4 for i in range(1, len(gpus) + 1)}


def test_a_node_entry_overrides_the_count_and_zero_stays_zero() -> None:
    fake = settings(
        changed(LOCAL, "fakeGpus.nodes", {"worker1": {"count": 0}, "worker2": {"product": "Z"}})
    ).fake_gpus
    assert expected_gpus(fake, nodes(0, 4)) == {"worker1": 0, "worker2": 4}


def test_usable_gpus_are_counted_per_pool_and_unknown_pools_left_out() -> None:
    pools = settings(EVERYTHING).node_pools
    labelled = [
        NodeFacts("a", {"kai.scheduler/node-pool": "a100"}, 8, 7),
        NodeFacts("b", {"kai.scheduler/node-pool": "other"}, 8, 8),
        NodeFacts("c", {}, 4, 4),
        NodeFacts("d"),
    ]
    assert by_pool(labelled, pools) == {"": 4, "a100": 7}


def test_a_given_capacity_is_taken_as_it_is() -> None:
    assert given(settings(EVERYTHING)) == {"": 8, "a100": 4}


def test_the_gate_opens_when_all_nodes_are_there_and_says_what_it_waits_for() -> None:
    said: list[str] = []
    cluster = FakeCluster([nodes(0, 0), nodes(4, 0), nodes(4, 0), nodes(4, 4)])
    found = asyncio.run(gate(cluster, said, 60).nodes({"worker1": 4, "worker2": 4}, preview=False))
    assert sum(node.usable for node in found) == 8
    assert said == [
        "waiting for fake GPUs: worker1 has 0 of 4; worker2 has 0 of 4",
        "waiting for fake GPUs: worker2 has 0 of 4",
    ]


def test_the_gate_gives_up_and_names_the_nodes() -> None:
    with pytest.raises(CapacityError, match=r"found worker2 has 0 of 4; worker9 vanished after 5 s"):
        asyncio.run(
            gate(FakeCluster([nodes(4, 0)]), []).nodes(
                {"worker1": 4, "worker2": 4, "worker9": 4}, preview=False
            )
        )


def test_an_unhealthy_gpu_lowers_the_capacity_without_holding_up_the_gate() -> None:
    sick = replace(nodes(4)[1], usable=3, marked=1)
    found = asyncio.run(gate(FakeCluster([(sick,)]), []).nodes({"worker1": 4}, preview=False))
    assert by_pool(found, settings(LOCAL).node_pools) == {"": 3}


def test_gpus_of_a_plugin_that_is_gone_do_not_count() -> None:
    """After a destroy the kubelet still reports the installed GPUs, none of them usable."""
    said: list[str] = []
    left_over = replace(nodes(4)[1], usable=0)
    cluster = FakeCluster([(left_over,), nodes(4)])
    found = asyncio.run(gate(cluster, said, 60).nodes({"worker1": 4}, preview=False))
    assert by_pool(found, settings(LOCAL).node_pools) == {"": 4}
    assert said == ["waiting for fake GPUs: worker1 has 0 of 4 usable"]


def test_a_preview_never_waits_and_shows_what_will_be() -> None:
    said: list[str] = []
    found = asyncio.run(
        gate(FakeCluster([nodes(0, 0)]), said).nodes({"worker1": 4, "worker2": 2}, preview=True)
    )
    assert by_pool(found, settings(LOCAL).node_pools) == {"": 6}
    assert said == []


def test_a_preview_of_a_running_cluster_counts_as_the_run_itself() -> None:
    sick = NodeFacts("worker1", GPU_NODE, 4, 3, marked=1)
    found = asyncio.run(gate(FakeCluster([(sick,)]), []).nodes({"worker1": 4}, preview=True))
    assert by_pool(found, settings(LOCAL).node_pools) == {"": 3}
