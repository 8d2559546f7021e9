"""One workload that holds whole GPUs: pod, PodGroup, Queue and kubelet, each read by itself."""

from __future__ import annotations

from typing import Any

from validation.observe import pods, queues
from validation.observe.fractional_gpu import UUID
from validation.observe.kubelet import uuids_of_pod
from validation.observe.snapshot import Snapshot
from validation.quantity import tidy

Json = dict[str, Any]


def holding(at: Snapshot, mine: list[Json], then: Json, queue: str) -> Json:
    """What the pods of one workload hold; `then` is the moment before (fractional_gpu.before)."""
    running = [p for p in mine if pods.running(p)]
    groups = [queues.group_of(p, at.groups) or {} for p in running]
    told = [uuids_of_pod(at.cluster, p) for p in running]
    uuids = {uuid for one in told for uuid in one.uuids}
    allocated = queues.allocated(at.queues.get(queue))
    return {
        "running": len(running),
        "gpus": pods.total_gpus(running),
        "uuids": sorted(uuids),
        "uuidsBy": _one(one.by for one in told),
        "scheduler": _one(p["spec"].get("schedulerName", "") for p in running),
        "queue": _one(g.get("spec", {}).get("queue", "no PodGroup") for g in groups),
        "priorityClass": _one(g.get("spec", {}).get("priorityClassName", "") for g in groups),
        "podGroupGpus": tidy(sum(queues.group_gpus(g) for g in groups)),
        "queueAllocated": tidy(allocated - then["allocated"].get(queue, 0)),
        "pods": {pods.name(p): f"{p['status'].get('phase')} on {pods.node(p)}" for p in mine},
    }


def _one(values: Any) -> str:
    """The only value, or all of them, so that two are never taken for one."""
    return ", ".join(sorted(set(map(str, values))))


def uuids_in(text: str) -> list[str]:
    """GPU UUIDs that `nvidia-smi -L` printed."""
    return list(UUID.findall(text))
