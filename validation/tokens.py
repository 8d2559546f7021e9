"""Tokens of workspaces: random, in a Secret, read from there when needed and never kept."""

from __future__ import annotations

import base64
import secrets
from typing import Any

from validation import names
from validation.cluster import Cluster, ClusterError

Json = dict[str, Any]
KEY = "token"


def make(cluster: Cluster, namespace: str, name: str, labels: dict[str, str]) -> None:
    """A Secret with a new token; one of that name from an earlier run is replaced."""
    path = names.in_namespace(names.SECRETS, namespace)
    cluster.delete(f"{path}/{name}")
    secret: Json = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "type": "Opaque",
        "stringData": {KEY: secrets.token_urlsafe(32)},
    }
    cluster.create(path, secret)


def read(cluster: Cluster, namespace: str, name: str) -> str:
    """The token of a Secret; ClusterError when there is none."""
    found = cluster.get(f"{names.in_namespace(names.SECRETS, namespace)}/{name}")
    try:
        return base64.b64decode(found["data"][KEY]).decode()
    except (KeyError, ValueError):
        raise ClusterError(f"Secret {namespace}/{name} has no key {KEY!r} that can be read") from None
