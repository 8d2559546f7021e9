"""V3 as the API shows it: Queue status and pods, counted separately."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe import pods, queues
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]


def start(at: Snapshot, department_queues: list[str]) -> Json:
    """Before the test: what the departments hold, and the free GPUs."""
    holding = [
        f"{pods.name(pod)} is in queue {queue}"
        for pod in at.pods
        if pods.active(pod) and pods.node(pod) and not pods.of_suite(pod)
        if (queue := queues.queue_of(pod, at.groups, at.outputs.queueLabelKey))
        and {q["metadata"]["name"] for q in queues.ancestors(queue, at.queues)} & set(department_queues)
    ]
    return {
        "allocated": {name: queues.allocated(at.queues.get(name)) for name in department_queues},
        "freeGpus": at.capacity.free,
        "why": holding,
    }


def allocation(at: Snapshot, queue: str, department_queue: str) -> Json:
    """What a project holds: its Queue, its department's Queue, and the sum over its placed pods."""
    placed = [
        p
        for p in at.pods
        if pods.active(p)
        and pods.node(p)
        and queues.queue_of(p, at.groups, at.outputs.queueLabelKey) == queue
        and p["metadata"]["namespace"] != at.outputs.reservationNamespace
    ]
    held = queues.allocated(at.queues.get(queue))
    # A project deserves no more than its department.
    quotas = [q for q in (queues.quota(at.queues.get(n)) for n in (queue, department_queue)) if q != -1]
    quota = min(quotas, default=-1)
    return {
        "projectAllocated": held,
        "departmentAllocated": queues.allocated(at.queues.get(department_queue)),
        "podsGpus": pods.total_gpus(placed),
        "ratioPercent": round(100 * held / quota, 1) if quota > 0 else None,
        "quota": quota,
    }


def pending(at: Snapshot, test: str, role: str) -> Json:
    """The pods of one role and why they wait, in KAI's own words."""
    mine = [p for p in at.mine(test) if pods.label(p, names.ROLE_LABEL) == role and pods.active(p)]
    phases = sorted({p["status"].get("phase", "Unknown") for p in mine})
    why = [r for p in mine if (g := queues.group_of(p, at.groups)) for r in queues.reasons(g)]
    first = why[0] if why else {"message": "", "queue": "", "limit": None}
    return {
        "phase": phases[0] if len(phases) == 1 else phases,
        "pods": len(mine),
        "nodes": [n for p in mine if (n := pods.node(p))],
        "reasons": [r["reason"] for r in why],
        "message": first["message"],
        "queue": first["queue"],
        "limit": first["limit"],
    }
