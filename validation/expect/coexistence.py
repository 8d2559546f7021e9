"""V9 coexistence: pods of the default scheduler, outside the projects, live beside full queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.nodes import Bed, need

QUEUE = "kit-coexistence"
NAMESPACE = "runai-kit-coexistence"
EACH = 2


@dataclass(frozen=True)
class Plan:
    """GPUs that fillers hold, as items of the driver, under a limit that leaves nothing for one job more.

    `nodes`: hostnames of the nodes that they fill; the plain pods go there, where a device could be found.
    """

    fillers: list[dict[str, Any]]
    limit: int
    nodes: list[str]


def plan(bed: Bed) -> Plan:
    """One filler per node until the budget is used. ImpossibleError without a free GPU."""
    need(bed, 1, "coexistence")
    left, takes = bed.budget, {}
    for node in bed.nodes:
        take = min(node.free, left)
        if take:
            takes[node.hostname] = take
            left -= take
    fillers = [{"nodes": [hostname], "gpus": take} for hostname, take in takes.items()]
    return Plan(fillers, bed.budget, list(takes))


def expected(made: Plan) -> dict[str, Any]:
    """Expectations by check id: two pods from before the queue was full, two from after."""
    return {
        "coexistence.full": {"allocated": made.limit, "waiting": 1},
        "coexistence.run": {
            "before": EACH,
            "whileFull": EACH,
            "samePods": True,
            "restarts": 0,
            "schedulers": ["default-scheduler"],
            "onGpuNodes": 2 * EACH,
        },
        "coexistence.untouched": {"added": {}, "podGroups": []},
        "coexistence.no_device": {"asked": 2 * EACH, "devices": {}},
        "coexistence.foreign": {"evicted": []},
    }
