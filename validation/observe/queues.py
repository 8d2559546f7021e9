"""Facts of KAI's Queues and PodGroups."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe.pods import annotation, label
from validation.quantity import parse, tidy

Json = dict[str, Any]


def allocated(queue: Json | None) -> int | float:
    """GPUs allocated according to the Queue's status."""
    return _status(queue, "allocated")


def allocated_non_preemptible(queue: Json | None) -> int | float:
    """GPUs of it that cannot be taken back."""
    return _status(queue, "allocatedNonPreemptible")


def _status(queue: Json | None, field: str) -> int | float:
    return tidy(parse(((queue or {}).get("status", {}).get(field) or {}).get(names.GPU_RESOURCE)))


def resources(queue: Json, resource: str) -> Json:
    """`spec.resources.<resource>` with KAI's reading of what is unset: 0."""
    raw = (queue.get("spec", {}).get("resources") or {}).get(resource) or {}
    return {key: raw.get(key, 0) for key in ("quota", "limit", "overQuotaWeight")}


def quota(queue: Json | None) -> float:
    """GPUs that the queue deserves; 0 without a queue."""
    return float(resources(queue, "gpu")["quota"]) if queue else 0.0


def above_quota(queue: Json | None) -> bool:
    """Holds more GPUs than it deserves (never, when that is unlimited)."""
    return queue is not None and quota(queue) != -1 and allocated(queue) > quota(queue)


def describe(queue: Json) -> Json:
    """A queue as preflight compares it."""
    gpu = resources(queue, "gpu")
    return {
        "parent": queue.get("spec", {}).get("parentQueue", ""),
        "deserved": gpu["quota"],
        "limit": gpu["limit"],
        "overQuotaWeight": gpu["overQuotaWeight"],
        "cpuLimit": resources(queue, "cpu")["limit"],
        "memoryLimit": resources(queue, "memory")["limit"],
    }


def reasons(group: Json) -> list[Json]:
    """Why a PodGroup is not scheduled: reason, message, and queue and GPU limit where KAI names them."""
    found: list[Json] = []
    for condition in group.get("status", {}).get("schedulingConditions") or []:
        if condition.get("status") not in (None, "True"):
            continue
        for entry in condition.get("reasons") or []:
            details = (entry.get("details") or {}).get("queueDetails") or {}
            found.append(
                {
                    "reason": entry.get("reason", ""),
                    "message": entry.get("message", ""),
                    "queue": details.get("name", ""),
                    "limit": _gpus(details.get("queueResourceLimits")),
                }
            )
        if not condition.get("reasons") and condition.get("message"):
            found.append(
                {
                    "reason": condition.get("reason", ""),
                    "message": condition["message"],
                    "queue": "",
                    "limit": None,
                }
            )
    return found


def _gpus(resources_list: Json | None) -> int | float | None:
    value = (resources_list or {}).get(names.GPU_RESOURCE)
    return None if value is None else tidy(parse(value))


def group_of(pod: Json, groups: list[Json]) -> Json | None:
    """The PodGroup that the podgrouper put a pod into."""
    wanted = annotation(pod, names.POD_GROUP_ANNOTATION)
    for group in groups:
        meta = group["metadata"]
        if meta["name"] == wanted and meta["namespace"] == pod["metadata"]["namespace"]:
            return group
    return None


def group_gpus(group: Json | None) -> int | float:
    """GPUs that a PodGroup holds, according to its status."""
    held = ((group or {}).get("status", {}).get("resourcesStatus") or {}).get("allocated") or {}
    return tidy(parse(held.get(names.GPU_RESOURCE)))


def preemptible(group: Json | None, priorities: dict[str, int]) -> bool:
    """KAI's rule: the PodGroup's own word, else a priority below 100; without a PodGroup the safe answer."""
    if group is None:
        return True
    word = group.get("spec", {}).get("preemptibility")
    if word:
        return bool(word == "preemptible")
    return (
        priorities.get(group.get("spec", {}).get("priorityClassName", ""), 50)
        < names.NON_PREEMPTIBLE_PRIORITY
    )


def ancestors(name: str, queues: dict[str, Json]) -> list[Json]:
    """The queue of that name and its parents, as far as they exist."""
    chain: list[Json] = []
    while name in queues and queues[name] not in chain:
        chain.append(queues[name])
        name = queues[name].get("spec", {}).get("parentQueue", "")
    return chain


def queue_of(pod: Json, groups: list[Json], label_key: str) -> str:
    """Name of the queue a pod counts for."""
    group = group_of(pod, groups)
    return str((group or {}).get("spec", {}).get("queue") or label(pod, label_key) or "")
