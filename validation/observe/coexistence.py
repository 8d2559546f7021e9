"""V9 coexistence: pods of another scheduler in a namespace that is no project's."""

from __future__ import annotations

import re
from typing import Any

from validation.cluster import ClusterError
from validation.expect.coexistence import NAMESPACE, QUEUE
from validation.observe import nodes, pods, queues
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
TEST = "coexistence"
# What KAI's admission, podgrouper and binder leave on a pod begins so, or is one of the words.
MARKS = ("kai.scheduler/", "runai/", "runai-gpu-group", "run.ai/", "gpu-fraction", "gpu-memory")
WORDS = ("pod-group-name", "received-resource-type")
# What a container sees of GPUs: device files, and what the driver's own tool lists.
PROBE = ["bash", "-c", "ls -d /dev/nvidia* 2>/dev/null; nvidia-smi -L 2>&1; echo asked"]
DEVICE = re.compile(r"^(?:/dev/nvidia\S*|GPU \d+: .*)$", re.MULTILINE)


def full(at: Snapshot) -> Json:
    """The queue at its limit, with a job that waits."""
    waiting = [pod for pod in nodes.of_role(at, TEST, "extra") if not pods.node(pod)]
    return {"allocated": queues.allocated(at.queues.get(QUEUE)), "waiting": len(waiting)}


def uids(at: Snapshot) -> dict[str, str]:
    """Plain pods that run."""
    return {pods.name(p): p["metadata"]["uid"] for role in ("before", "after") for p in _plain(at, role)}


def observe(at: Snapshot, before: dict[str, str]) -> Json:
    """Observations by check id; `before` is what uids() gave before the queue was full."""
    old, new = _plain(at, "before"), _plain(at, "after")
    groups = [pods.name(g) for g in at.groups if g["metadata"]["namespace"] == NAMESPACE]
    return {
        "coexistence.run": {
            "before": len(old),
            "whileFull": len(new),
            "samePods": {pods.name(p): p["metadata"]["uid"] for p in old} == before,
            "restarts": sum(map(pods.restarts, old + new)),
            "schedulers": sorted({str(p["spec"].get("schedulerName")) for p in old + new}),
            "onGpuNodes": sum(pods.node(p) in at.capacity.allocatable for p in old + new),
        },
        "coexistence.untouched": {
            "added": {pods.name(p): marks for p in old + new if (marks := _marks(p))},
            "podGroups": groups,
        },
        "coexistence.no_device": _devices(at, old + new),
    }


def _devices(at: Snapshot, mine: list[Json]) -> Json:
    """GPU devices that these pods find, by pod; how many of them could be asked."""
    said: dict[str, str] = {}
    for pod in mine:
        meta = pod["metadata"]
        try:
            said[pods.name(pod)] = at.cluster.execute(meta["namespace"], meta["name"], PROBE)
        except ClusterError as error:
            said[pods.name(pod)] = str(error)
    return {
        "asked": sum(1 for text in said.values() if text.rstrip().endswith("asked")),
        "devices": {name: found for name, text in said.items() if (found := DEVICE.findall(text))},
    }


def _plain(at: Snapshot, role: str) -> list[Json]:
    mine = nodes.of_role(at, TEST, role)
    return [p for p in mine if pods.running(p) and p["metadata"]["namespace"] == NAMESPACE]


def _marks(pod: Json) -> list[str]:
    """Traces of KAI on a pod: labels, annotations, a runtime class, variables."""
    meta, spec = pod["metadata"], pod["spec"]
    keys = [*(meta.get("labels") or {}), *(meta.get("annotations") or {})]
    found = [key for key in keys if key.startswith(MARKS) or key in WORDS]
    if spec.get("runtimeClassName"):
        found.append(f"runtimeClassName={spec['runtimeClassName']}")
    for container in spec["containers"]:
        found += [f"env {e['name']}" for e in container.get("env") or [] if "GPU" in e["name"]]
    return sorted(found)
