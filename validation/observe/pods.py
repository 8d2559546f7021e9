"""Facts of pods, as pure functions on the API's JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from validation import names
from validation.quantity import parse, tidy

Json = dict[str, Any]


def name(thing: Json) -> str:
    """`namespace/name`, or the name of what has no namespace."""
    meta = thing["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if "namespace" in meta else str(meta["name"])


def label(thing: Json, key: str) -> str | None:
    """A label's value, None without it."""
    value = (thing["metadata"].get("labels") or {}).get(key)
    return None if value is None else str(value)


def annotation(thing: Json, key: str) -> str | None:
    """An annotation's value, None without it."""
    value = (thing["metadata"].get("annotations") or {}).get(key)
    return None if value is None else str(value)


def of_suite(thing: Json) -> bool:
    """Made by this suite?"""
    return label(thing, names.PART_OF_LABEL) == names.PART_OF


def active(pod: Json) -> bool:
    """Holds, or may come to hold, resources."""
    return pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


def container(pod: Json) -> str:
    """Name of the container that works; the others are Knative's or a proxy of somebody's, and come later."""
    found = [str(c["name"]) for c in pod["spec"]["containers"] if c["name"] != "queue-proxy"]
    return found[0]


def running(pod: Json) -> bool:
    """Running and not on its way out."""
    return pod.get("status", {}).get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]


def node(pod: Json) -> str | None:
    """Node that the pod is placed on."""
    found = pod.get("spec", {}).get("nodeName")
    return str(found) if found else None


def gpus(pod: Json) -> int:
    """Whole GPUs that the pod's containers ask the kubelet for."""
    spec = pod.get("spec", {})
    together = sum(_asked(c) for c in spec.get("containers", []))
    one_by_one = max((_asked(c) for c in spec.get("initContainers") or []), default=0)
    return max(together, one_by_one)


def _asked(container: Json) -> int:
    resources = container.get("resources", {})
    for kind in ("limits", "requests"):
        if names.GPU_RESOURCE in resources.get(kind, {}):
            return int(parse(resources[kind][names.GPU_RESOURCE]))
    return 0


def fraction(pod: Json) -> float:
    """GPUs that the pod asks for by a fraction of each of its devices, 0 when it asks for none."""
    return parse(annotation(pod, names.GPU_FRACTION_ANNOTATION)) * devices(pod)


def memory(pod: Json) -> float:
    """GPU memory that the pod asks for of each of its devices (MiB), 0 when it asks for none."""
    return parse(annotation(pod, names.GPU_MEMORY_ANNOTATION))


def devices(pod: Json) -> int:
    """Over how many GPUs a pod's fraction or memory goes."""
    return int(parse(annotation(pod, names.GPU_DEVICES_ANNOTATION))) or 1


def gpu_groups(pod: Json) -> set[str]:
    """GPU groups of a pod: one by plain label, several by labels with the group in the key."""
    labels = pod["metadata"].get("labels") or {}
    return {value for key, value in labels.items() if key.partition("/")[0] == names.GPU_GROUP_LABEL}


def held_by_node(pods: Iterable[Json]) -> dict[str, int]:
    """Whole GPUs held per node by pods that are placed and not over."""
    held: dict[str, int] = {}
    for pod in pods:
        where = node(pod)
        if where and active(pod) and gpus(pod):
            held[where] = held.get(where, 0) + gpus(pod)
    return held


def restarts(pod: Json) -> int:
    """Restarts of all containers."""
    return sum(int(s.get("restartCount", 0)) for s in pod.get("status", {}).get("containerStatuses") or [])


def total_gpus(pods: Iterable[Json]) -> int | float:
    """GPUs of these pods, fractions included."""
    return tidy(sum(gpus(p) + fraction(p) for p in pods))
