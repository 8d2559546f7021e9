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
    """GPUs that fillers hold, as items of the driver, under a limit that leaves nothing for one job more."""

    fillers: list[dict[str, Any]]
    limit: int


def plan(bed: Bed) -> Plan:
    """One filler per node until the budget is used. ImpossibleError without a free GPU."""
    need(bed, 1, "coexistence")
    left, fillers = bed.budget, []
    for node in bed.nodes:
        take = min(node.free, left)
        if take:
            fillers.append({"nodes": [node.hostname], "gpus": take})
            left -= take
    return Plan(fillers, bed.budget)


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
        },
        "coexistence.untouched": {"added": {}, "podGroups": []},
        "coexistence.no_device": {"asked": 2 * EACH, "devices": {}},
        "coexistence.foreign": {"evicted": []},
    }
