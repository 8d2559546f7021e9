"""Every object of a cluster that somebody could have made or changed: to show that nothing was left behind.

Left out is what comes, goes and changes by itself.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from day2.inventory import Item, item
from day2.kinds import Kinds
from validation.cluster import Cluster, ClusterError

Json = dict[str, Any]
# Kinds of objects that come and go with time, whatever is installed; each with what makes it.
CHURN = {
    "Event": "what happened",
    "Lease": "who leads, and that nodes are alive",
    "CertificateSigningRequest": "nodes renew their certificates",
    "ComponentStatus": "a view that is made when it is asked for",
    "CSINode": "nodes say what they can mount",
    "ReplicaSet": "one per revision of a Deployment, the old ones are dropped",
    "ControllerRevision": "one per revision of a DaemonSet or StatefulSet",
    "Endpoints": "follow Services",
    "EndpointSlice": "follow Services, with names by chance",
    "IPAddress": "follow Services",
    "PodMetrics": "measured anew all the time",
    "NodeMetrics": "measured anew all the time",
    "BindRequest": "KAI's scheduler asks its binder, for every pod",
}
# Set by controllers whenever they look at a thing.
OWN_ANNOTATIONS = (
    "deployment.kubernetes.io/",
    "control-plane.alpha.kubernetes.io/",
    "kubectl.kubernetes.io/",
)
STAMPS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


@dataclass(frozen=True)
class Seen:
    """An object, and a digest of what people set: labels, annotations, spec, data."""

    item: Item
    digest: str


def snapshot(cluster: Cluster) -> dict[str, Seen]:
    """All objects by what they are called, but for pods of controllers, which have names by chance."""
    found: dict[str, Seen] = {}
    for kind in Kinds(cluster).all():
        if kind.name in CHURN:
            continue
        for thing in cluster.items(kind.path()):
            seen = item(kind, thing["metadata"])
            if not (kind.name == "Pod" and seen.owned):
                found[f"{seen.group}/{seen}"] = Seen(seen, _digest(thing))
    return found


def differences(
    before: dict[str, Seen], after: dict[str, Seen], untouched: Collection[str] = ()
) -> list[str]:
    """What is new, gone or changed; in the namespaces `untouched` also what was changed and put back."""
    texts = [f"new: {name}" for name in after.keys() - before.keys()]
    texts += [f"gone: {name}" for name in before.keys() - after.keys()]
    for name in before.keys() & after.keys():
        one, other = before[name], after[name]
        if one.digest != other.digest:
            texts.append(f"changed: {name}")
        elif other.item.namespace in untouched and one.item.generation != other.item.generation:
            texts.append(f"changed and put back: {name}")
    return sorted(texts)


def settled(
    cluster: Cluster, before: dict[str, Seen], untouched: Collection[str] = (), seconds: float = 30
) -> list[str]:
    """Differences that are still there after `seconds`; controllers need a moment."""
    end = time.monotonic() + seconds
    while (left := _left(cluster, before, untouched)) and time.monotonic() < end:
        time.sleep(1)
    return left


def _left(cluster: Cluster, before: dict[str, Seen], untouched: Collection[str]) -> list[str]:
    try:
        return differences(before, snapshot(cluster), untouched)
    except ClusterError as error:
        return [str(error)]


def _digest(thing: Json) -> str:
    meta = {key: value for key, value in thing["metadata"].items() if key not in STAMPS}
    marks = meta.get("annotations") or {}
    meta["annotations"] = {k: v for k, v in marks.items() if not k.startswith(OWN_ANNOTATIONS)}
    kept = {key: value for key, value in thing.items() if key not in ("status", "metadata")}
    return hashlib.sha256(json.dumps([meta, kept], sort_keys=True).encode()).hexdigest()[:12]
