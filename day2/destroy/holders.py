"""What does not go although it was told to: who holds it, in words."""

from __future__ import annotations

from collections.abc import Iterable

from day2.inventory import Item
from validation.cluster import Cluster, ClusterError

_SAID = ("NamespaceDeletionDiscoveryFailure", "NamespaceDeletionContentFailure")


def holders(cluster: Cluster, namespaces: Iterable[str], found: Iterable[Item]) -> list[str]:
    """One text per object that is being deleted and held by a finalizer, and per namespace that says why."""
    names = set(namespaces)
    texts = [
        f"{item}: finalizer {', '.join(item.finalizers)}"
        for item in found
        if item.deleting and item.finalizers and (not item.namespace or item.namespace in names)
    ]
    for name in sorted(names):
        try:
            live = cluster.find(f"/api/v1/namespaces/{name}")
        except ClusterError as error:
            texts.append(f"namespace {name}: {error}")
            continue
        for condition in (live or {}).get("status", {}).get("conditions") or []:
            if condition["type"] in _SAID and condition["status"] == "True":
                texts.append(f"namespace {name}: {' '.join(condition['message'].split())}")
    return texts
