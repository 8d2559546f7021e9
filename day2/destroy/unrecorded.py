"""Helm releases that a killed `pulumi up` began and did not write down: no destroy of Pulumi sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from day2.kinds import Kinds
from day2.releases import Rendered
from day2.state import ReleaseName
from day2.stated import fit
from validation.cluster import Cluster

Json = dict[str, Any]
_WORKS = ("Deployment", "DaemonSet", "StatefulSet", "Job")


def remove(
    cluster: Cluster,
    kinds: Kinds,
    releases: dict[ReleaseName, Rendered],
    say: Callable[[str], None],
) -> None:
    """Custom resources first, while who answers for them still runs; then the rest; CRDs stay."""
    for release, there in releases.items():
        say(f"release {release.namespace}/{release.name}: not in the stack's state; removing it")
        for body in sorted((*there.hooks, *there.objects), key=_order):
            _delete(cluster, kinds, fit(kinds, body))
        _forget(cluster, release)


def _order(body: Json) -> int:
    """Objects of CRDs have a group with a dot that is not Kubernetes' own."""
    group = body["apiVersion"].rpartition("/")[0]
    custom = "." in group and not group.endswith(".k8s.io")
    return 0 if custom else 1 if body["kind"] in _WORKS else 2


def _delete(cluster: Cluster, kinds: Kinds, body: Json) -> None:
    kind = kinds.find(body["apiVersion"], body["kind"])
    if kind is not None and kind.name != "CustomResourceDefinition":
        cluster.delete(kind.path(body["metadata"].get("namespace", ""), body["metadata"]["name"]))


def _forget(cluster: Cluster, release: ReleaseName) -> None:
    root = f"/api/v1/namespaces/{release.namespace}/secrets"
    for item in cluster.items(root, labelSelector=f"owner=helm,name={release.name}"):
        cluster.delete(f"{root}/{item['metadata']['name']}")


def objects(releases: dict[ReleaseName, Rendered]) -> Iterable[tuple[str, Json]]:
    """(release, object) of all of them, CRDs and hooks, too."""
    for release, there in releases.items():
        for body in (*there.crds, *there.hooks, *there.objects):
            yield release.name, body
