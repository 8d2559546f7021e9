"""V9 time-based fair share: who used more in the window gets less of what is above the quotas.

A node becomes a pool of its own whose shard asks Prometheus for the past. Two queues without quota ask for
all of it: with no past they get half each. Then one of them has it alone for a window, and both ask again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.node_pools import choose
from validation.expect.nodes import Bed
from validation.expect.over_quota import ImpossibleError

POOL = "runai-kit-fair-share-over-time"
DEPARTMENT = "kit-time"
USED, SPARED = "kit-time-a", "kit-time-b"
# Beyond 1 the past weighs more than the queues' own weights.
K_VALUE = 2.0
# Parts of the pool over the window from which on the rule gives the first queue nothing.
MUCH, LITTLE = 0.8, 0.3


@dataclass(frozen=True)
class Plan:
    """`units` jobs of `size` GPUs, an even number, are all that both may hold; window and step in seconds."""

    node: str
    hostname: str
    size: int
    units: int
    window: int
    step: int

    @property
    def gpus(self) -> int:
        """GPUs that both queues may hold together: all of the node, or nearly."""
        return self.size * self.units


def plan(bed: Bed, scrape_seconds: float) -> Plan:
    """A few jobs on any node; a window of four scrapes, at least twenty seconds.

    Raises ImpossibleError without a node of two GPUs or more, or without Prometheus (scrape_seconds 0).
    """
    if scrape_seconds <= 0:
        raise ImpossibleError(
            "fair_share_over_time needs the past in Prometheus: monitoring is off or does not scrape KAI; "
            "set runai-kit:monitoring.enabled, or declare the test n/a with this reason in the inventory"
        )
    node = choose(bed, 2, 0, "fair_share_over_time")
    size, units = (node.free // 4, 4) if node.free >= 4 else (1, 2)
    step = max(1, round(scrape_seconds))
    return Plan(node.name, node.hostname, size, units, max(20, 4 * step), step)


def shares(usage: tuple[float, float], k: float = K_VALUE) -> tuple[float, float]:
    """Parts of what both want, by KAI's rule: weight + k * (weight - usage), not below zero, normalised."""
    weights = [max(0.0, 0.5 + k * (0.5 - used)) for used in usage]
    total = sum(weights)
    return (weights[0] / total, weights[1] / total) if total else (0.5, 0.5)


def expected(made: Plan) -> dict[str, Any]:
    """Expectations by check id; units are jobs."""
    half = made.units // 2
    return {
        "fair_share_over_time.even": {"jobs": [half, half]},
        "fair_share_over_time.usage": {USED: {"atLeast": MUCH}, SPARED: {"atMost": LITTLE}},
        "fair_share_over_time.shifted": {
            USED: {"atMost": half - 1},
            SPARED: {"atLeast": half + 1},
            "fairShareFavours": SPARED,
        },
        "fair_share_over_time.foreign": {"evicted": []},
    }
