"""V1: what workloads stand on: storage, room on the nodes, their health."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe import capacity, pods
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]


def storage_class(at: Snapshot) -> Json:
    """StorageClasses that are marked as default."""
    found = [
        c["metadata"]["name"]
        for c in at.cluster.items(names.STORAGE_CLASSES)
        if pods.annotation(c, names.DEFAULT_STORAGE_CLASS_ANNOTATION) == "true"
    ]
    return {"defaults": len(found), "names": found}


def max_pods(at: Snapshot) -> Json:
    """Free pod slots per GPU node."""
    free = {}
    for node in capacity.gpu_nodes(at.nodes):
        name = node["metadata"]["name"]
        used = sum(1 for p in at.pods if pods.node(p) == name and pods.active(p))
        free[name] = capacity.allocatable(node, "pods") - used
    return free


def node_pressure(at: Snapshot) -> Json:
    """Nodes that are not ready or report pressure."""
    faults: dict[str, list[str]] = {}
    for node in at.nodes:
        state = {c["type"]: c["status"] for c in node["status"].get("conditions") or []}
        bad = [] if state.get("Ready") == "True" else ["not Ready"]
        bad += [
            kind for kind in ("DiskPressure", "MemoryPressure", "PIDPressure") if state.get(kind) == "True"
        ]
        if bad:
            faults[node["metadata"]["name"]] = bad
    return {"faults": faults, "nodes": len(at.nodes)}
