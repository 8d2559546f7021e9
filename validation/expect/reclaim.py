"""V4: numbers of the reclaim test for any capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.over_quota import ImpossibleError

DEPARTMENT = "kit-reclaim"
VICTIM = "kit-reclaim-a"
CLAIMANT = "kit-reclaim-b"


@dataclass(frozen=True)
class Plan:
    """GPUs, each one a job: capacity, deserved of each side, fillers of the first, claim of the second."""

    capacity: int
    deserved: int
    protected: int
    preemptible: int
    claim: int
    evicted: int


def plan(capacity: int, deserved: int = 0) -> Plan:
    """One non-preemptible pod and preemptible ones fill the capacity; the second queue claims its deserved.

    deserved 0 = a quarter of the capacity, at least one (2 of 8, 1 of 4). Raises ImpossibleError when the
    capacity has no room for a victim beside the protected pod.
    """
    share = deserved or max(1, capacity // 4)
    protected = 1
    if capacity < protected + share or 2 * share > capacity:
        raise ImpossibleError(
            f"reclaim needs {max(protected + share, 2 * share)} free GPUs for a deserved of {share}, "
            f"found {capacity}; free GPUs or lower reclaim_deserved"
        )
    return Plan(capacity, share, protected, capacity - protected, share, evicted=share)


def expected(made: Plan, timeout: float) -> dict[str, Any]:
    """Expectations by check id; latency in seconds."""
    return {
        "reclaim.fill": {
            "victimAllocated": made.capacity,
            "victimNonPreemptible": made.protected,
            "victimPods": made.capacity,
            "freeGpus": 0,
        },
        "reclaim.victims": {
            "evicted": made.evicted,
            "evictedNonPreemptible": 0,
            "evictedQueues": [VICTIM],
            "victimRunning": made.capacity - made.evicted,
        },
        "reclaim.reclaimed": {
            "claimantRunning": made.claim,
            "claimantAllocated": made.claim,
            "claimantQuota": made.deserved,
            "victimAllocated": made.capacity - made.claim,
        },
        "reclaim.protected": {"running": made.protected, "sameUids": True, "restarts": 0},
        "reclaim.latency": {"seconds": {"atMost": timeout}, "measured": made.claim},
        "reclaim.foreign": {"evicted": []},
    }
