"""What is left after Pulumi is done: node labels of an agent that is gone, and proof that nothing else is."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from typing import Any

from components.fake_gpus import LABELS
from components.fake_gpus import NAME as AGENT
from components.kai.inputs import NAME as KAI
from day2.destroy.people import by_pulumi
from day2.destroy.webhooks import of_namespaces
from day2.inventory import inventory
from day2.stated import Stated
from validation.cluster import Cluster

Json = dict[str, Any]
_NODES = "/api/v1/nodes"
_CRD = "CustomResourceDefinition"


def unlabel(cluster: Cluster, say: Callable[[str], None]) -> None:
    """Take back the labels of nodes that the pretended GPUs' agent worked on; real GPUs' stay as they are."""
    for metadata in cluster.metadata(_NODES):
        if not _worked_on(metadata):
            continue
        # Also one that somebody wrote over: the agent would have put it right.
        keys = [key for key in LABELS if key in (metadata.get("labels") or {})]
        cluster.patch(f"{_NODES}/{metadata['name']}", {"metadata": {"labels": dict.fromkeys(keys)}})
        say(f"node {metadata['name']}: took back {len(keys)} labels of the pretended GPUs")


def _worked_on(metadata: Json) -> bool:
    """Whether a label is still the agent's, by the field's owner."""
    return any(
        entry.get("manager") == AGENT and "f:labels" in entry.get("fieldsV1", {}).get("f:metadata", {})
        for entry in metadata.get("managedFields") or []
    )


def orphans(cluster: Cluster, homes: Collection[str], say: Callable[[str], None]) -> None:
    """Delete cluster-wide objects of the kit's Helm releases whose namespace, with Helm's records, is gone.

    `homes`: namespaces that the kit's parts run in. An `up` that was killed may leave such objects. Those of
    releases that others had there are theirs.
    """
    found = inventory(cluster)
    there = {item.name for item in found if item.kind == "Namespace"}
    gone = set(homes) - there
    for item in found:
        kits = by_pulumi(item) and (item.release in gone or (item.group == "kai.scheduler" and KAI in gone))
        if kits and not item.namespace and item.kind != _CRD and cluster.delete(item.path):
            say(f"{item}: belonged to a release whose namespace is gone; deleted")


def left(
    cluster: Cluster, namespaces: set[str], everything: Iterable[Stated], crds: set[str], patience: float
) -> list[str]:
    """What should be gone and is not, `crds` among it.

    The cluster's own collection of what has no owner any more gets `patience` seconds.
    """
    wanted = [item for item in everything if not item.patch]
    stated = {item.key() for item in wanted if item.body["kind"] != _CRD or item.name in crds}
    end = time.monotonic() + patience
    while True:
        found = _left(cluster, namespaces, stated | {(_CRD, "", name) for name in crds})
        if not found or time.monotonic() > end:
            return found
        time.sleep(1)


def _left(cluster: Cluster, namespaces: set[str], stated: set[tuple[str, str, str]]) -> list[str]:
    there = inventory(cluster)
    found = [
        str(item)
        for item in there
        if (item.kind, item.namespace, item.name) in stated or item.namespace in namespaces
    ]
    return sorted(set(found) | {path.rpartition("/")[2] for path, _ in of_namespaces(cluster, namespaces)})
