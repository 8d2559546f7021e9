"""Every object of a cluster, by its metadata alone: what is there, and whose it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from day2.kinds import Kind, Kinds
from day2.managers import managers
from validation.cluster import Cluster

Json = dict[str, Any]


@dataclass(frozen=True)
class Item:
    """One object; `owned` says that another object owns it, and it goes with that one."""

    group: str
    kind: str
    namespace: str
    name: str
    generation: int = field(default=0, compare=False)
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)
    finalizers: tuple[str, ...] = field(default=(), compare=False)
    owned: bool = field(default=False, compare=False)
    deleting: bool = field(default=False, compare=False)
    managers: frozenset[str] = field(default=frozenset(), compare=False)
    path: str = field(default="", compare=False)
    #: Namespace of the Helm release that it says it belongs to.
    release: str = field(default="", compare=False)
    #: Name of the CRD that the object's kind would have.
    resource: str = field(default="", compare=False)

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"


def item(kind: Kind, metadata: Json) -> Item:
    """The object that this metadata is of."""
    return Item(
        kind.group,
        kind.name,
        metadata.get("namespace", ""),
        metadata["name"],
        metadata.get("generation", 0),
        metadata.get("labels") or {},
        tuple(metadata.get("finalizers") or ()),
        bool(metadata.get("ownerReferences")),
        "deletionTimestamp" in metadata,
        managers(metadata),
        kind.path(metadata.get("namespace", ""), metadata["name"]),
        (metadata.get("annotations") or {}).get("meta.helm.sh/release-namespace", ""),
        f"{kind.plural}.{kind.group}",
    )


def inventory(cluster: Cluster, wanted: Callable[[Kind], bool] = lambda _: True) -> list[Item]:
    """All objects of the wanted kinds, in all namespaces. Raises ClusterError for a kind that fails.

    What cannot be deleted (metrics of pods, for one) is computed from other objects, and is none itself.
    """
    kinds = (kind for kind in Kinds(cluster).all() if "delete" in kind.verbs and wanted(kind))
    return [found for kind in kinds for found in of(cluster, kind)]


def of(cluster: Cluster, kind: Kind, namespace: str = "") -> Iterator[Item]:
    """All objects of a kind."""
    for metadata in cluster.metadata(kind.path(namespace)):
        yield item(kind, metadata)
