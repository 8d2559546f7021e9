"""Everything in a cluster that somebody could have changed: to show that nothing was left behind.

Left out is what changes by itself: events, leases, endpoints, status, pods of controllers.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any

from validation.cluster import Cluster, ClusterError

Json = dict[str, Any]
RESTLESS = {
    "events",
    "leases",
    "endpoints",
    "endpointslices",
    "controllerrevisions",
    "replicasets",
    "nodes/status",
    "componentstatuses",
    "podmetrics",
    "nodemetrics",
    "csinodes",
    "bindrequests",
}
# Set by controllers whenever they look at a thing.
OWN_ANNOTATIONS = (
    "deployment.kubernetes.io/",
    "control-plane.alpha.kubernetes.io/",
    "kubectl.kubernetes.io/",
)
STAMPS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


def of(api: Cluster) -> dict[str, str]:
    """`<kind> <namespace>/<name>` -> digest of what people set: labels, annotations, spec, data."""
    found: dict[str, str] = {}
    for path in _collections(api):
        for thing in api.items(path):
            meta = thing["metadata"]
            if path == "/api/v1/pods" and meta.get("ownerReferences"):
                continue
            key = f"{path.rpartition('/')[2]} {meta.get('namespace', '')}/{meta['name']}"
            found[key] = _digest(thing)
    return found


def differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """What is new, gone or changed."""
    new = [f"new: {key}" for key in after if key not in before]
    gone = [f"gone: {key}" for key in before if key not in after]
    changed = [f"changed: {key}" for key in after if key in before and before[key] != after[key]]
    return sorted(new + gone + changed)


def settled(api: Cluster, before: dict[str, str], seconds: float = 30) -> list[str]:
    """Differences that are still there after `seconds`; controllers need a moment."""
    end = time.monotonic() + seconds
    while (left := differences(before, of(api))) and time.monotonic() < end:
        time.sleep(1)
    return left


def _collections(api: Cluster) -> Iterator[str]:
    """Paths of all kinds that can be listed, in each group's preferred version."""
    groups = ["/api/v1"]
    groups += [f"/apis/{g['preferredVersion']['groupVersion']}" for g in api.get("/apis")["groups"]]
    for group in groups:
        try:
            resources = api.get(group)["resources"]
        except ClusterError:
            continue  # an aggregated API that does not answer has nothing of ours
        for resource in resources:
            if "list" in resource["verbs"] and resource["name"] not in RESTLESS:
                yield f"{group}/{resource['name']}"


def _digest(thing: Json) -> str:
    meta = {key: value for key, value in thing["metadata"].items() if key not in STAMPS}
    marks = meta.get("annotations") or {}
    meta["annotations"] = {k: v for k, v in marks.items() if not k.startswith(OWN_ANNOTATIONS)}
    kept = {key: value for key, value in thing.items() if key not in ("status", "metadata")}
    return hashlib.sha256(json.dumps([meta, kept], sort_keys=True).encode()).hexdigest()[:12]
