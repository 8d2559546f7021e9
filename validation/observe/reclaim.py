"""V4 as the API and the watch show it."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.expect.reclaim import CLAIMANT, VICTIM
from validation.observe import capacity, pods, queues
from validation.observe.snapshot import Snapshot
from validation.timeline import Life

Json = dict[str, Any]
TEST = "reclaim"


def _of_role(at: Snapshot, role: str) -> list[Json]:
    return [p for p in at.mine(TEST) if pods.label(p, names.ROLE_LABEL) == role and pods.running(p)]


def fill(at: Snapshot) -> Json:
    """Before the claim: what the first queue holds."""
    mine = _of_role(at, "filler") + _of_role(at, "protected")
    held = sum(pods.held_by_node(at.pods).get(n, 0) for n in at.capacity.allocatable)
    return {
        "victimAllocated": queues.allocated(at.queues.get(VICTIM)),
        "victimNonPreemptible": queues.allocated_non_preemptible(at.queues.get(VICTIM)),
        "victimPods": len(mine),
        "freeGpus": at.capacity.total - held,
        "why": capacity.holders(at.pods, at.capacity.allocatable),
        "uids": {pods.name(p): p["metadata"]["uid"] for p in _of_role(at, "protected")},
    }


def after(at: Snapshot, lives: list[Life], protected_uids: dict[str, str], claimed_at: float) -> Json:
    """Observations by check id after the claim at `claimed_at` (Unix s); later deletions are evictions."""
    evicted = sorted(
        (life for life in lives if life.role != "claimant" and life.deleting and life.deleting >= claimed_at),
        key=lambda life: life.deleting or 0.0,
    )
    claimants = [life for life in lives if life.role == "claimant"]
    latencies = [life.latency for life in claimants if life.latency is not None]
    protected = _of_role(at, "protected")
    return {
        "reclaim.victims": {
            "evicted": len(evicted),
            "evictedNonPreemptible": sum(1 for life in evicted if life.role == "protected"),
            "evictedQueues": sorted({life.queue for life in evicted}),
            "victimRunning": len(_of_role(at, "filler")) + len(protected),
            "why": [
                f"{life.name} began to end at +{(life.deleting or 0) - claimed_at:.3f} s" for life in evicted
            ],
            "order": [f"+{(life.deleting or 0) - claimed_at:.3f} s {life.name}" for life in evicted],
        },
        "reclaim.reclaimed": {
            "claimantRunning": len(_of_role(at, "claimant")),
            "claimantAllocated": queues.allocated(at.queues.get(CLAIMANT)),
            "claimantQuota": queues.quota(at.queues.get(CLAIMANT)),
            "victimAllocated": queues.allocated(at.queues.get(VICTIM)),
        },
        "reclaim.protected": {
            "running": len(protected),
            "sameUids": {pods.name(p): p["metadata"]["uid"] for p in protected} == protected_uids,
            "restarts": sum(map(pods.restarts, protected)),
            "why": [
                f"{name} ran before the claim and does not any more"
                for name, uid in protected_uids.items()
                if uid not in {p["metadata"]["uid"] for p in protected}
            ],
        },
        "reclaim.latency": {
            "seconds": round(max(latencies), 3) if latencies else None,
            "measured": len(latencies),
            "each": {life.name: round(life.latency, 3) for life in claimants if life.latency is not None},
            "apiSeconds": {life.name: life.api for life in claimants},
        },
    }
