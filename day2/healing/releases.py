"""Helm releases that a dead run left between two states, or finished without the stack knowing.

Helm keeps one Secret per revision (label `owner=helm`). While the newest is pending, no install or upgrade
begins, and an install is refused where a release of that name is recorded. A record that goes takes no object
with it: the next install takes over what carries the release's own annotations.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from components.cluster import PENDING
from components.labels import PROJECT_KEY
from day2.healing.command import Json, say
from day2.managers import managers, provider
from validation.cluster import Cluster

TYPE = "kubernetes:helm.sh/v3:Release"
NAMESPACE_TYPE = "kubernetes:core/v1:Namespace"


@dataclass(frozen=True)
class Begun:
    """An operation on a release that its run did not end: `operation` is creating, updating, deleting, …"""

    name: str
    namespace: str
    operation: str
    urn: str


def known(state: Json) -> list[Json]:
    """Resources of the stack, also those of operations that did not end."""
    pending = state.get("pending_operations") or []
    return [*(state.get("resources") or []), *(item["resource"] for item in pending)]


def owned(state: Json) -> set[str]:
    """Names of the namespaces that the stack owns."""
    return {item["name"] for item in _namespaces(state)}


def homes(state: Json) -> set[str]:
    """Those of them that are no project's: what is in a project's is people's."""
    return {item["name"] for item in _namespaces(state) if PROJECT_KEY not in (item.get("labels") or {})}


def _namespaces(state: Json) -> list[Json]:
    return [item["inputs"]["metadata"] for item in known(state) if item["type"] == NAMESPACE_TYPE]


def begun(state: Json) -> list[Begun]:
    """Operations on releases that the state still lists as pending."""
    return [
        Begun(*_place(item["resource"]), item["type"], item["resource"]["urn"])
        for item in state.get("pending_operations") or []
        if item["resource"]["type"] == TYPE
    ]


def _place(resource: Mapping[str, Any]) -> tuple[str, str]:
    inputs = {**(resource.get("outputs") or {}), **(resource.get("inputs") or {})}
    return str(inputs["name"]), str(inputs.get("namespace") or "default")


def free(cluster: Cluster, state: Json, since: datetime | None) -> None:
    """Forget the revisions that would be in the next run's way.

    These are pending revisions of the stack's releases, and whole releases whose creation the stack does not
    know to have ended. `since` is when the dead run began: what was first deployed earlier is not its work.
    """
    for secret in [*_stuck(cluster, state), *_unknown(cluster, state, since)]:
        meta = secret["metadata"]
        labels = meta["labels"]
        say(
            f"release {labels['name']} in {meta['namespace']}: "
            f"forgetting its revision {labels['version']} ({labels['status']})"
        )
        cluster.delete(f"/api/v1/namespaces/{meta['namespace']}/secrets/{meta['name']}")


def _stuck(cluster: Cluster, state: Json) -> Iterator[Json]:
    """Pending revisions of releases that the state names, or of the provider's in homes of parts."""
    ours = {_place(item) for item in known(state) if item["type"] == TYPE}
    namespaces = homes(state)
    for secret in _records(cluster, f"status in ({','.join(PENDING)})"):
        name, namespace = secret["metadata"]["labels"]["name"], secret["metadata"]["namespace"]
        mine = namespace in namespaces and provider(managers(secret["metadata"]))
        if (name, namespace) in ours or mine:
            yield secret


def _unknown(cluster: Cluster, state: Json, since: datetime | None) -> Iterator[Json]:
    """Every other revision of releases that were being created."""
    for operation in begun(state):
        if operation.operation != "creating":
            continue
        for secret in _records(cluster, f"name={operation.name}", operation.namespace):
            first = first_deployed(secret)
            if secret["metadata"]["labels"]["status"] in PENDING:
                continue
            if since is None or first is None or first >= since:
                yield secret


def _records(cluster: Cluster, selector: str, namespace: str = "") -> list[Json]:
    where = f"/api/v1/namespaces/{namespace}/secrets" if namespace else "/api/v1/secrets"
    return cluster.items(where, labelSelector=f"owner=helm,{selector}")


def first_deployed(secret: Json) -> datetime | None:
    """When Helm first installed the release that a record is of, by the clock of the machine it ran on."""
    packed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
    text = json.loads(gzip.decompress(packed))["info"].get("first_deployed", "")
    return datetime.fromisoformat(text) if text else None
