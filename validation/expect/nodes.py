"""GPU nodes as a plan sees them, and choices among them. Numbers are whole GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from validation.expect.over_quota import ImpossibleError


@dataclass(frozen=True)
class GpuNode:
    """A node that tests may use: hostname label, what it offers, what is free, whether others use it."""

    name: str
    hostname: str
    gpus: int
    free: int
    shared: bool = False


@dataclass(frozen=True)
class Bed:
    """What a plan starts from: nodes, and the most GPUs that tests may hold at a time."""

    nodes: tuple[GpuNode, ...]
    budget: int
    scarce: bool = True

    @property
    def free(self) -> int:
        """GPUs that are free on all nodes, whatever the budget."""
        return sum(node.free for node in self.nodes)

    def pairs(self) -> list[tuple[GpuNode, GpuNode]]:
        """Two different nodes each, the one with less free first, as far as the budget covers both."""
        found = []
        for one, other in combinations(self.nodes, 2):
            low, high = sorted((one, other), key=lambda node: (node.free, node.name))
            if low.free and low.free + high.free <= self.budget:
                found.append((low, high))
        return found

    def singles(self) -> list[GpuNode]:
        """Nodes with something free that the budget covers, the one with most first."""
        fitting = [node for node in self.nodes if 0 < node.free <= self.budget]
        return sorted(fitting, key=lambda node: (-node.free, node.name))

    def tell(self) -> str:
        """The numbers, for messages."""
        each = ", ".join(f"{node.name}: {node.free} of {node.gpus}" for node in self.nodes) or "no GPU node"
        return f"free GPUs {each}; at most {self.budget} may be used"


def bed(facts: Mapping[str, Any]) -> Bed:
    """From what `observe/nodes.py` found."""
    nodes = tuple(GpuNode(**{key: node[key] for key in _FIELDS}) for node in facts["nodes"])
    return Bed(nodes, int(facts["freeGpus"]), bool(facts["scarce"]))


_FIELDS = ("name", "hostname", "gpus", "free", "shared")


def need(bed_: Bed, gpus: int, what: str) -> None:
    """ImpossibleError with the numbers unless the budget has so many GPUs."""
    if bed_.budget < gpus:
        raise ImpossibleError(f"{what} needs {gpus} free GPUs; found {bed_.tell()}; free GPUs")


def need_scarcity(bed_: Bed, what: str) -> None:
    """ImpossibleError where the budget leaves GPUs free that the test has to fill."""
    if not bed_.scarce:
        raise ImpossibleError(
            f"{what} has to fill all free GPUs, but validation.maxGpus allows {bed_.budget} of {bed_.free}: "
            "name a node pool in validation.nodePool that has no more than that"
        )


def used(nodes: Sequence[GpuNode]) -> bool:
    """Whether others use one of them: nodes of nobody else come first.

    A gang that must wait may make KAI move others' preemptible pods away; consolidation asks for no quota.
    """
    return any(node.shared for node in nodes)


def hostnames(nodes: Sequence[GpuNode]) -> list[str]:
    """Hostname labels, each once, in order."""
    return list(dict.fromkeys(node.hostname for node in nodes))
