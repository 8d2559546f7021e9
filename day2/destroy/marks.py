"""CRDs outlive a destroy unless they are purged: a mark says which stack brought them."""

from __future__ import annotations

from collections.abc import Iterable

from components.labels import ours
from day2.inventory import Item, of
from day2.kinds import Kinds
from day2.managers import provider
from day2.stated import Stated, crds
from validation.cluster import Cluster

BROUGHT_BY = "runai-kit.io/brought-by"
# Written with a name of its own, which day2/drift/owned.yml knows.
MANAGER = "runai-kit"
_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def candidates(cluster: Cluster, kinds: Kinds, stack: str, everything: Iterable[Stated]) -> list[Item]:
    """CRDs that the stack brought: stated by it and made by it, or marked or labelled as left by it.

    One that was there before is somebody else's: Helm leaves it as it is, and so does the kit.
    """
    kind = kinds.find("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    stated = {item.name for item in crds(list(everything))}
    return [
        item
        for item in (of(cluster, kind) if kind else ())
        if item.labels.get(BROUGHT_BY) == stack
        or (item.name in stated and provider(item.managers))
        or ours(item.labels)
    ]


def mark(cluster: Cluster, stack: str, items: Iterable[Item]) -> None:
    """Write the mark. Raises ClusterError."""
    change = {"metadata": {"labels": {BROUGHT_BY: stack}}}
    for item in items:
        if item.labels.get(BROUGHT_BY) != stack:
            cluster.patch(f"{_PATH}/{item.name}?fieldManager={MANAGER}", change)


def remove(cluster: Cluster, item: Item) -> None:
    """Delete a CRD, and with it every object of its kind. Raises ClusterError."""
    cluster.delete(f"{_PATH}/{item.name}")
