"""How many GPUs the cluster has, per node pool: given, counted, or counted once fake GPUs are up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pulumi

from components.cluster import Cluster, NodeFacts
from components.config.model import Settings
from components.config.sections import FakeGpus, NodePools
from components.polling import until


class CapacityError(pulumi.RunError):
    """The nodes do not advertise the GPUs that they should."""


def expected_gpus(fake: FakeGpus, nodes: Sequence[NodeFacts]) -> dict[str, int]:
    """GPUs that each node selected by the settings will advertise."""
    chosen = [node for node in nodes if fake.node_selector.items() <= node.labels.items()]
    counts = {}
    for node in chosen:
        own = fake.nodes.get(node.name)
        counts[node.name] = own.count if own is not None and own.count is not None else fake.default.count
    return counts


def by_pool(nodes: Sequence[NodeFacts], pools: NodePools) -> dict[str, int]:
    """Usable GPUs per node pool; "" collects nodes without the pool label."""
    names = {"": 0} | {pool.name: 0 for pool in pools.pools}
    for node in nodes:
        pool = node.labels.get(pools.label_key, "")
        if pool in names:
            names[pool] += node.usable
    return names


def given(settings: Settings) -> dict[str, int]:
    """Capacity per pool as the settings give it."""
    pools = {pool.name: pool.gpus or 0 for pool in settings.node_pools.pools}
    return {"": settings.capacity.gpus or 0} | pools


@dataclass
class FakeGpuGate:
    """Waits until every expected node advertises its fake GPUs, those marked unhealthy on purpose aside."""

    cluster: Cluster
    timeout: float = 120.0
    pause: float = 2.0
    say: Callable[[str], None] = pulumi.log.info
    clock: Callable[[], float] = time.monotonic

    async def nodes(self, expected: Mapping[str, int], preview: bool) -> Sequence[NodeFacts]:
        """The nodes once they are as expected; in a preview what they will be, without waiting.

        Raises CapacityError naming each node that is not there after `timeout` seconds.
        """
        if preview:
            nodes = await asyncio.to_thread(self.cluster.nodes)
            wrong = self.differences(expected, nodes)
            return [_as_expected(node, expected) for node in nodes] if wrong else nodes
        seen: list[Sequence[NodeFacts]] = []

        def look() -> list[str]:
            seen[:] = [self.cluster.nodes()]
            return self.differences(expected, seen[0])

        def late(reason: str) -> CapacityError:
            return CapacityError(
                f"fake GPUs: found {reason} after {self.timeout:g} s; expected {dict(expected)}; "
                "look at the pods of DaemonSet fake-gpu in namespace gpu-operator"
            )

        await until(look, "fake GPUs", late, self.timeout, self.pause, self.say, self.clock)
        return seen[0]

    @staticmethod
    def differences(expected: Mapping[str, int], nodes: Sequence[NodeFacts]) -> list[str]:
        """One text per node that does not have its number of GPUs, or is gone."""
        found = {node.name: node for node in nodes}
        wrong = []
        for name, count in expected.items():
            node = found.get(name)
            if node is None:
                wrong.append(f"{name} vanished")
            elif node.installed != count:
                wrong.append(f"{name} has {node.installed} of {count}")
            elif node.usable < count - node.marked:
                wrong.append(f"{name} has {node.usable} of {count} usable")
        return wrong


def _as_expected(node: NodeFacts, expected: Mapping[str, int]) -> NodeFacts:
    count = expected.get(node.name)
    return node if count is None else replace(node, installed=count, usable=max(0, count - node.marked))
