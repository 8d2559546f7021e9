"""V9 gang: two pods of k GPUs each, while k and k-1 are free, and while k and k are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.nodes import Bed, hostnames, used
from validation.expect.over_quota import ImpossibleError

QUEUE = "kit-gang"
PODS = 2


@dataclass(frozen=True)
class Plan:
    """`size` is k; fillers leave k per pod free, and the plug takes one more of the last node."""

    size: int
    nodes: list[str]
    fillers: list[dict[str, Any]]
    plug: dict[str, Any]

    @property
    def held(self) -> int:
        """GPUs in use while the gang runs."""
        return sum(int(filler["gpus"]) for filler in self.fillers) + PODS * self.size


def plan(bed: Bed) -> Plan:
    """Two nodes, or one that has room for both pods; one GPU less than the most, so that fillers matter.

    Raises ImpossibleError when no node or pair of nodes has room for two pods.
    """
    pairs = sorted(bed.pairs(), key=lambda pair: (used(pair), -pair[0].free, pair[1].free, pair[0].name))
    if pairs:
        low, high = pairs[0]
        size = low.free - 1 if low.free >= 3 else low.free
        takes = [(low, low.free - size), (high, high.free - size)]
    else:
        roomy = sorted((node for node in bed.singles() if node.free >= PODS), key=lambda node: node.shared)
        if not roomy:
            raise ImpossibleError(
                f"gang needs two free GPUs that the bound allows; found {bed.tell()}; free GPUs"
            )
        most = roomy[0].free // PODS
        size = most - 1 if most >= 3 else most
        takes = [(roomy[0], roomy[0].free - PODS * size)]
    fillers = [_pinned(node.hostname, take) for node, take in takes if take]
    last = takes[-1][0]
    return Plan(size, hostnames([node for node, _ in takes]), fillers, _pinned(last.hostname, 1))


def _pinned(hostname: str, gpus: int) -> dict[str, Any]:
    return {"nodes": [hostname], "gpus": gpus}


def expected(made: Plan, timeout: float) -> dict[str, Any]:
    """Expectations by check id; seconds between the first and the last pod of the gang."""
    return {
        "gang.waits": {
            "watched": PODS,
            "everScheduled": [],
            "everRan": [],
            "free": 2 * made.size - 1,
            "reasons": {"contains": "PodSchedulingErrors"},
        },
        "gang.starts": {
            "running": PODS,
            "gpusEach": [made.size] * PODS,
            "nodes": {"oneOf": [made.nodes]},
            "samePods": True,
            "apartSeconds": {"atMost": timeout},
            "minMember": PODS,
        },
        "gang.foreign": {"evicted": []},
    }
