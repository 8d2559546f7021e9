"""V1: queues of the stack, and what belongs to others."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe import pods, queues
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]


def queue_tree(at: Snapshot) -> Json:
    """The kit's queues as they are in the cluster."""
    wanted = [d.queue for d in at.outputs.departments] + [p.queue for p in at.outputs.projects]
    return {name: queues.describe(at.queues[name]) if name in at.queues else "missing" for name in wanted}


def foreign_queues(at: Snapshot) -> Json:
    """Queues that neither the stack, KAI's chart nor this suite made."""
    own = {d.queue for d in at.outputs.departments} | {p.queue for p in at.outputs.projects}
    foreign = [
        name
        for name, queue in sorted(at.queues.items())
        if name not in own and name not in names.INSTALLER_QUEUES and not pods.of_suite(queue)
    ]
    return {"foreign": foreign, "queues": len(at.queues)}


def blast_radius(at: Snapshot) -> Json:
    """Pods that KAI could evict for a test: others' preemptible ones in a queue above its quota."""
    at_risk = []
    for pod in at.pods:
        mine = pods.of_suite(pod) or not pods.active(pod)
        if mine or pod["spec"].get("schedulerName") != at.outputs.schedulerName:
            continue
        if not queues.preemptible(queues.group_of(pod, at.groups), at.priorities):
            continue
        queue = queues.queue_of(pod, at.groups, at.outputs.queueLabelKey)
        above = [q["metadata"]["name"] for q in queues.ancestors(queue, at.queues) if queues.above_quota(q)]
        if above:
            at_risk.append(f"{pods.name(pod)} (queue {queue}; above its quota: {', '.join(above)})")
    return {"atRisk": sorted(at_risk)}
