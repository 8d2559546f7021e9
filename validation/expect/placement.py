"""V9 placement: where the second pod goes is what the stack's placement setting says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.nodes import Bed, hostnames
from validation.expect.over_quota import ImpossibleError

QUEUE = "kit-placement"
PODS = 2
STRATEGIES = ("binpack", "spread")


@dataclass(frozen=True)
class Plan:
    """Two pods, one after the other: of one GPU on two like nodes, or of half a GPU on one node.

    `over` is what they may share or not: a node, or a GPU.
    """

    over: str
    nodes: list[str]
    strategy: str


def plan(bed: Bed, strategy: str, gpu_sharing: bool) -> Plan:
    """Nodes that are alike, so that only the strategy decides; each has room for both pods.

    Raises ImpossibleError without two such nodes and without shared GPUs.
    """
    if strategy not in STRATEGIES:
        raise ImpossibleError(
            f"scheduler.placement.gpu: found {strategy!r}, expected one of {', '.join(STRATEGIES)}"
        )
    alike = [
        [node for node in bed.nodes if node.free == free and node.gpus == gpus]
        for free, gpus in sorted({(n.free, n.gpus) for n in bed.nodes}, reverse=True)
        if free >= PODS
    ]
    for nodes in alike:
        if len(nodes) >= 2 and bed.budget >= PODS:
            return Plan("node", hostnames(nodes[:2]), strategy)
    roomy = [node for node in bed.nodes if node.free >= PODS]
    if roomy and gpu_sharing and bed.budget >= PODS:
        return Plan("gpu", hostnames(roomy[:1]), strategy)
    raise ImpossibleError(
        "placement needs two nodes that are alike with two free GPUs each, or one node with two free GPUs "
        f"and gpuSharing; found {bed.tell()}, gpuSharing {str(gpu_sharing).lower()}"
    )


def expected(made: Plan) -> dict[str, Any]:
    """Expectations by check id."""
    return {
        "placement.setting": {"gpu": made.strategy},
        "placement.pods": {"running": PODS, "distinct": 1 if made.strategy == "binpack" else PODS},
    }
