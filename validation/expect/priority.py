"""V9 priority: inside one queue a build takes a train's GPU; never the other way, never beyond the quota."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.nodes import Bed, need

QUEUE = "kit-priority"


@dataclass(frozen=True)
class Plan:
    """One-GPU jobs: trains fill the limit, of which `deserved` is quota; builds come up to the quota."""

    deserved: int
    limit: int
    trains: int
    builds: int

    @property
    def evicted(self) -> int:
        """Trains that have to go."""
        return self.trains + self.builds - self.limit


def plan(bed: Bed) -> Plan:
    """Quota of one GPU under a limit of two: small on any cluster. ImpossibleError below two free GPUs.

    Where more are free than may be used, the build gets another GPU than the one that its victim still has.
    """
    made = Plan(deserved=1, limit=2, trains=2, builds=1)
    need(bed, made.limit if bed.scarce else made.limit + made.evicted, "priority")
    return made


def expected(made: Plan) -> dict[str, Any]:
    """Expectations by check id."""
    return {
        "priority.fill": {"allocated": made.limit, "nonPreemptible": 0, "trains": made.trains},
        "priority.preempts": {
            "builds": made.builds,
            "evictedRoles": ["train"] * made.evicted,
            "trains": made.trains - made.evicted,
            "allocated": made.limit,
            "nonPreemptible": made.builds,
        },
        # What was evicted comes back as a waiting train, beside the one that is submitted after the build.
        "priority.protected": {
            "sameBuilds": True,
            "restarts": 0,
            "waitingTrains": {"atLeast": made.evicted + 1},
            "evictedAfter": [],
        },
        "priority.quota": {
            "phase": "Pending",
            "reasons": {"contains": "NonPreemptibleOverQuota"},
            "queue": QUEUE,
            "room": made.limit - made.builds,
        },
        "priority.foreign": {"evicted": []},
    }
