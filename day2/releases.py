"""What Helm rendered, from the Secret in which it keeps a release."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from day2.managers import managers, provider
from day2.state import ReleaseName
from validation.cluster import Cluster

Json = dict[str, Any]


class ReleaseError(RuntimeError):
    """A release cannot be read, or is not deployed."""


@dataclass(frozen=True)
class Rendered:
    """A release's objects, the CRDs that its chart brings beside the templates, and its hooks.

    Hooks are jobs and what jobs need; Helm makes and removes them at each upgrade.
    """

    objects: tuple[Json, ...]
    crds: tuple[Json, ...]
    hooks: tuple[Json, ...] = ()


_TEXTS = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value"}


class _Loader(yaml.CSafeLoader):
    """YAML as Kubernetes reads it: dates and `=` are texts."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag not in _TEXTS]
    for first, found in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def rendered(cluster: Cluster, release: ReleaseName) -> Rendered:
    """The newest deployed revision. Raises ReleaseError, ClusterError."""
    found = _secrets(cluster, release.namespace, f"owner=helm,name={release.name},status=deployed")
    if not found:
        raise ReleaseError(
            f"Helm release {release.namespace}/{release.name}: found no deployed revision; expected one; "
            "run `pulumi up`"
        )
    return _newest(found, release.namespace)


def newest(cluster: Cluster, release: ReleaseName) -> Rendered | None:
    """The newest revision, whatever became of it; None without any. Raises ClusterError."""
    found = _secrets(cluster, release.namespace, f"owner=helm,name={release.name}")
    return _newest(found, release.namespace) if found else None


def unrecorded(
    cluster: Cluster, namespaces: Iterable[str], known: Iterable[ReleaseName]
) -> dict[ReleaseName, Rendered]:
    """Releases in these namespaces that are not known: a killed `pulumi up` did not write them down.

    Only those of which this kit's provider wrote a revision; others' Helm may have releases there, too.
    """
    names = {(release.name, release.namespace) for release in known}
    found: dict[ReleaseName, Rendered] = {}
    for namespace in namespaces:
        revisions: dict[str, list[Json]] = {}
        for item in _secrets(cluster, namespace, "owner=helm"):
            revisions.setdefault(item["metadata"]["labels"]["name"], []).append(item)
        for name, items in revisions.items():
            if (name, namespace) not in names and any(provider(managers(item["metadata"])) for item in items):
                found[ReleaseName(name, namespace)] = _newest(items, namespace)
    return found


def _newest(secrets: Iterable[Json], namespace: str) -> Rendered:
    newest = max(secrets, key=lambda item: int(item["metadata"]["labels"]["version"]))
    return decode(newest["data"]["release"], namespace)


def _secrets(cluster: Cluster, namespace: str, selector: str) -> list[Json]:
    return cluster.items(f"/api/v1/namespaces/{namespace}/secrets", labelSelector=selector)


def decode(text: str, namespace: str) -> Rendered:
    """Helm's own encoding: JSON, gzip, base64, and the API's base64 around it.

    `namespace` is the release's, which its objects are in unless they name another.
    """
    data = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(text))))
    files = [file for file in data["chart"].get("files") or [] if file["name"].startswith("crds/")]
    crds = [obj for file in files for obj in _objects(base64.b64decode(file["data"]).decode())]
    objects = _objects(data.get("manifest") or "")
    hooks = [obj for hook in data.get("hooks") or [] for obj in _objects(hook["manifest"])]
    return Rendered(
        tuple(_placed(obj, namespace) for obj in objects),
        tuple(crds),
        tuple(_placed(obj, namespace) for obj in hooks),
    )


def _objects(text: str) -> list[Json]:
    return [obj for obj in yaml.load_all(text, _Loader) if obj]


def _placed(obj: Json, namespace: str) -> Json:
    metadata = obj["metadata"]
    return obj | {"metadata": {"namespace": namespace} | metadata}
