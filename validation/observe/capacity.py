"""Live GPU capacity: what nodes can allocate and what others hold of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from validation import names
from validation.observe.pods import active, gpus, label, name, node, of_suite
from validation.quantity import parse

Json = dict[str, Any]


@dataclass(frozen=True)
class Capacity:
    """GPUs: allocatable and held by others per node, free in all (unbounded), free for the tests."""

    allocatable: dict[str, int]
    held: dict[str, int]
    unbounded: int
    free: int

    @property
    def total(self) -> int:
        """All allocatable GPUs."""
        return sum(self.allocatable.values())


def gpu_nodes(nodes: list[Json]) -> list[Json]:
    """Nodes that have GPUs or say so."""
    return [n for n in nodes if allocatable(n) > 0 or label(n, "nvidia.com/gpu.present") == "true"]


def allocatable(thing: Json, resource: str = names.GPU_RESOURCE) -> int:
    """What a node offers of a resource."""
    return int(parse((thing.get("status", {}).get("allocatable") or {}).get(resource)))


def replicas(node: Json) -> int:
    """How often the device plugin offers each device: more than once with time-slicing and MPS."""
    return int(parse(label(node, names.GPU_REPLICAS_LABEL))) or 1


def in_pool(nodes: list[Json], label_key: str, pool: str) -> list[Json]:
    """Nodes of a pool; the pool without a name is that of the nodes without the label."""
    return [n for n in nodes if (label(n, label_key) or "") == pool]


def schedulable(thing: Json) -> bool:
    """Neither cordoned nor tainted: the suite's pods tolerate nothing. What is not ready is tainted, too."""
    return not thing.get("spec", {}).get("unschedulable", False) and not taints(thing)


def taints(thing: Json) -> list[str]:
    """A node's taints that keep pods away, as kubectl writes them."""
    found = thing.get("spec", {}).get("taints") or []
    return [
        f"{taint['key']}{'=' + taint['value'] if taint.get('value') else ''}:{taint['effect']}"
        for taint in found
        if taint.get("effect") in ("NoSchedule", "NoExecute")
    ]


def holders(pods: list[Json], nodes: Collection[str]) -> list[str]:
    """Who outside the suite holds GPUs on these nodes, in words."""
    return [
        f"{name(pod)} holds {gpus(pod)} on {node(pod)}"
        for pod in pods
        if node(pod) in nodes and active(pod) and gpus(pod) and not of_suite(pod)
    ]


def measure(nodes: list[Json], pods: list[Json], max_gpus: int = 0) -> Capacity:
    """Capacity of these nodes, the suite's own pods not counted; max_gpus > 0 bounds what is free."""
    offered = {n["metadata"]["name"]: allocatable(n) for n in nodes if allocatable(n) and schedulable(n)}
    held: dict[str, int] = {}
    for pod in pods:
        where = node(pod)
        if where and where in offered and active(pod) and not of_suite(pod) and gpus(pod):
            held[where] = held.get(where, 0) + gpus(pod)
    free = sum(max(0, offered[n] - held.get(n, 0)) for n in offered)
    return Capacity(offered, held, free, min(free, max_gpus) if max_gpus else free)
