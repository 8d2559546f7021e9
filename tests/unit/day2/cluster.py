"""A cluster of a few objects, answering the paths that day2 asks for."""

from __future__ import annotations

import copy
from typing import Any

from validation.cluster import ClusterError

Json = dict[str, Any]
# group/version → (kind, plural, namespaced)
SERVED: dict[str, list[tuple[str, str, bool]]] = {
    "v1": [
        ("Namespace", "namespaces", False),
        ("Node", "nodes", False),
        ("ConfigMap", "configmaps", True),
        ("Secret", "secrets", True),
        ("Pod", "pods", True),
    ],
    "apps/v1": [("Deployment", "deployments", True)],
    "discovery.k8s.io/v1": [("EndpointSlice", "endpointslices", True)],
    "admissionregistration.k8s.io/v1": [
        ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False),
        ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False),
    ],
    "apiextensions.k8s.io/v1": [("CustomResourceDefinition", "customresourcedefinitions", False)],
    "scheduling.run.ai/v2": [("Queue", "queues", False)],
    "kai.scheduler/v1": [("Config", "configs", False)],
    "metrics.k8s.io/v1beta1": [("PodMetrics", "pods", True)],
}
COMPUTED = ("PodMetrics",)


class FakeCluster:
    """Objects by path. `broken` paths answer 503; `deaf` objects stay when they are deleted."""

    def __init__(self, *objects: Json) -> None:
        self.objects = {_path(body): copy.deepcopy(body) for body in objects}
        self.broken: set[str] = set()
        self.deaf: set[str] = set()
        self.deleted: list[tuple[str, int | None]] = []
        self.patched: list[tuple[str, Json]] = []

    def get(self, path: str, **params: Any) -> Json:
        """Discovery, lists and objects."""
        if path in self.broken:
            raise ClusterError(f"GET {path}: 503 broken", 503)
        if path == "/apis":
            versions = [name for name in SERVED if "/" in name]
            return {"groups": [_group(name) for name in versions]}
        version = path.removeprefix("/apis/").removeprefix("/api/")
        if version in SERVED:
            return {"resources": [_resource(*row) for row in SERVED[version]]}
        if path in self.objects:
            return self.objects[path]
        if path.rpartition("/")[2] in {row[1] for rows in SERVED.values() for row in rows}:
            return {"items": self._list(path, params.get("labelSelector", ""))}
        raise ClusterError(f"GET {path}: 404 not found", 404)

    def find(self, path: str, **params: Any) -> Json | None:
        """Like get, None for what is not there."""
        try:
            return self.get(path, **params)
        except ClusterError as error:
            if error.status == 404:
                return None
            raise

    def items(self, path: str, **params: Any) -> list[Json]:
        """Items of a list."""
        return list((self.find(path, **params) or {}).get("items", []))

    def metadata(self, path: str, **params: Any) -> list[Json]:
        """Metadata of a list's items."""
        return [item["metadata"] for item in self.get(path, **params)["items"]]

    def delete(self, path: str, grace_seconds: int | None = None) -> bool:
        """Delete; a deaf object stays."""
        self.deleted.append((path, grace_seconds))
        return path in self.objects and (path in self.deaf or bool(self.objects.pop(path)))

    def create(self, path: str, body: Json, dry_run: bool = False) -> Json:
        """What the server would store: with its default, `policy: usual`."""
        assert dry_run
        if path in self.broken:
            raise ClusterError(f"POST {path}: 403 refused", 403)
        return {"policy": "usual", **body}

    def patch(self, path: str, change: Json) -> Json:
        """Remember it."""
        self.patched.append((path, change))
        return change

    def _list(self, path: str, selector: str) -> list[Json]:
        """Objects of a namespace, or of all of them where the path names none."""
        head, _, plural = path.rpartition("/")
        wanted = dict(part.split("=") for part in selector.split(",") if part)
        return [
            body
            for where, body in self.objects.items()
            if where.startswith(f"{head}/")
            and where.split("/")[-2] == plural
            and wanted.items() <= (body["metadata"].get("labels") or {}).items()
        ]


def obj(api_version: str, kind: str, name: str, namespace: str = "", **more: Any) -> Json:
    """An object; `metadata` in more is merged."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **more.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def _group(version: str) -> Json:
    group, _, number = version.partition("/")
    entry = {"groupVersion": version, "version": number}
    return {"name": group, "versions": [entry], "preferredVersion": entry}


def _resource(kind: str, plural: str, namespaced: bool) -> Json:
    verbs = ["get", "list"] if kind in COMPUTED else ["get", "list", "delete"]
    return {"kind": kind, "name": plural, "namespaced": namespaced, "verbs": verbs}


def _path(body: Json) -> str:
    version, metadata = body["apiVersion"], body["metadata"]
    plural = next(row[1] for row in SERVED[version] if row[0] == body["kind"])
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    where = f"/namespaces/{metadata['namespace']}" if metadata.get("namespace") else ""
    return f"{root}{where}/{plural}/{metadata['name']}"
