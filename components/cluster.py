"""Reads what the program must know about the cluster before and while it declares resources."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import urllib3
from kubernetes import client
from kubernetes.utils import quantity as _quantities

# The client's stubs leave it untyped.
_parse: Any = _quantities.parse_quantity
GPU = "nvidia.com/gpu"
# The fake GPU agent reports the GPUs listed here, by index or UUID, as unhealthy.
UNHEALTHY = "runai-kit.io/unhealthy-gpus"
# Helm's words for an operation that has begun and not ended.
PENDING = ("pending-install", "pending-upgrade", "pending-rollback")
DEFAULT = "ingressclass.kubernetes.io/is-default-class"
# Connect and read, in seconds: a cluster that answers slower than this is reported, not waited for.
TIMEOUT = (5, 20)


@dataclass(frozen=True)
class NodeFacts:
    """A node; `installed` counts its GPUs, `usable` those that pods can get now.

    `marked` is how many were declared unhealthy by annotation. A kubelet goes on reporting the installed
    GPUs of a device plugin that is gone, with none of them usable.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    installed: int = 0
    usable: int = 0
    cpu_cores: float = 0.0
    memory_bytes: int = 0
    marked: int = 0


@dataclass(frozen=True)
class NamespaceFacts:
    """A namespace that exists: its labels, those label keys that this kit's provider wrote; is it going?"""

    labels: Mapping[str, str] = field(default_factory=dict)
    written_by_kit: frozenset[str] = frozenset()
    deleting: bool = False


@dataclass(frozen=True)
class DeploymentFacts:
    """A Deployment's labels and how far its rollout is, in pods."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    generation: int = 1
    observed: int = 0
    wanted: int = 1
    updated: int = 0
    available: int = 0


@dataclass(frozen=True)
class ClusterFacts:
    """State of the cluster when the program started."""

    version: str
    nodes: tuple[NodeFacts, ...]
    namespaces: Mapping[str, NamespaceFacts]


class Cluster(Protocol):
    """What the components ask a running cluster; tests answer in its place."""

    def nodes(self) -> tuple[NodeFacts, ...]:
        """All nodes as they are now."""
        ...

    def custom_object(self, group: str, version: str, plural: str, name: str) -> dict[str, Any] | None:
        """A cluster-wide custom object, or None when there is none of that name."""
        ...

    def namespaced_object(
        self, group: str, version: str, namespace: str, plural: str, name: str
    ) -> dict[str, Any] | None:
        """A custom object of a namespace, or None when there is none of that name or kind."""
        ...

    def custom_objects(
        self, group: str, version: str, plural: str, selector: str = ""
    ) -> tuple[dict[str, Any], ...]:
        """Objects of a kind in all namespaces, chosen by labels; none when the kind is not served."""
        ...

    def deployments(self, namespace: str) -> tuple[DeploymentFacts, ...]:
        """All Deployments of a namespace, none when it does not exist."""
        ...

    def secret(self, namespace: str, name: str) -> dict[str, str]:
        """A Secret's texts by key, empty when there is none of that name."""
        ...

    def default_ingress_classes(self) -> tuple[str, ...]:
        """Names of the IngressClasses that are marked as the cluster's default."""
        ...

    def refusal(self, group: str, version: str, namespace: str, plural: str, body: dict[str, Any]) -> str:
        """Why the API server and its webhooks would not take the object, empty if they would."""
        ...

    def pending_releases(self) -> tuple[tuple[str, str, str], ...]:
        """(namespace, name, status) of Helm releases whose newest operation has not ended."""
        ...

    def chart_version(self, namespace: str, release: str) -> str:
        """Version of the chart that a Helm release is deployed from; empty when it is not deployed."""
        ...


class LiveCluster:
    """Answers from the API server. Raises kubernetes' and urllib3's own errors."""

    def __init__(self, api: client.ApiClient) -> None:
        self._core = client.CoreV1Api(api)
        self._apps = client.AppsV1Api(api)
        self._custom = client.CustomObjectsApi(api)
        self._networking = client.NetworkingV1Api(api)
        self._version = client.VersionApi(api)

    def facts(self) -> ClusterFacts:
        """Version, nodes and namespaces, in three requests."""
        version = self._version.get_code(_request_timeout=TIMEOUT).git_version
        listed = self._core.list_namespace(_request_timeout=TIMEOUT).items
        metas: list[Any] = [item.metadata for item in listed]
        namespaces = {meta.name: _namespace(meta) for meta in metas}
        return ClusterFacts(version, self.nodes(), namespaces)

    def nodes(self) -> tuple[NodeFacts, ...]:
        """All nodes as they are now."""
        return tuple(_node(item) for item in self._core.list_node(_request_timeout=TIMEOUT).items)

    def custom_object(self, group: str, version: str, plural: str, name: str) -> dict[str, Any] | None:
        """A cluster-wide custom object, or None when there is none of that name."""
        try:
            found: Any = self._custom.get_cluster_custom_object(
                group, version, plural, name, _request_timeout=TIMEOUT
            )
        except client.ApiException as error:
            if error.status == 404:
                return None
            raise
        return dict(found)

    def namespaced_object(
        self, group: str, version: str, namespace: str, plural: str, name: str
    ) -> dict[str, Any] | None:
        """A custom object of a namespace, or None when there is none of that name or kind."""
        try:
            found: Any = self._custom.get_namespaced_custom_object(
                group, version, namespace, plural, name, _request_timeout=TIMEOUT
            )
        except client.ApiException as error:
            if error.status == 404:
                return None
            raise
        return dict(found)

    def custom_objects(
        self, group: str, version: str, plural: str, selector: str = ""
    ) -> tuple[dict[str, Any], ...]:
        """Objects of a kind in all namespaces, chosen by labels; none when the kind is not served."""
        try:
            found: Any = self._custom.list_cluster_custom_object(
                group, version, plural, label_selector=selector, _request_timeout=TIMEOUT
            )
        except client.ApiException as error:
            if error.status == 404:
                return ()
            raise
        return tuple(found["items"])

    def deployments(self, namespace: str) -> tuple[DeploymentFacts, ...]:
        """All Deployments of a namespace, none when it does not exist."""
        listed = self._apps.list_namespaced_deployment(namespace, _request_timeout=TIMEOUT)
        return tuple(_deployment(item) for item in listed.items)

    def secret(self, namespace: str, name: str) -> dict[str, str]:
        """A Secret's texts by key, empty when there is none of that name."""
        try:
            found: Any = self._core.read_namespaced_secret(name, namespace, _request_timeout=TIMEOUT)
        except client.ApiException as error:
            if error.status == 404:
                return {}
            raise
        return {key: base64.b64decode(value).decode() for key, value in (found.data or {}).items()}

    def default_ingress_classes(self) -> tuple[str, ...]:
        """Names of the IngressClasses that are marked as the cluster's default."""
        listed: list[Any] = self._networking.list_ingress_class(_request_timeout=TIMEOUT).items
        marked = [
            item.metadata for item in listed if (item.metadata.annotations or {}).get(DEFAULT) == "true"
        ]
        return tuple(meta.name for meta in marked)

    def refusal(self, group: str, version: str, namespace: str, plural: str, body: dict[str, Any]) -> str:
        """Why the API server and its webhooks would not take the object, empty if they would."""
        try:
            self._custom.create_namespaced_custom_object(
                group, version, namespace, plural, body, dry_run="All", _request_timeout=TIMEOUT
            )
        except client.ApiException as error:
            return _message(error)
        except urllib3.exceptions.HTTPError as error:
            return str(error)
        return ""

    def pending_releases(self) -> tuple[tuple[str, str, str], ...]:
        """(namespace, name, status) of Helm releases whose newest operation has not ended."""
        selector = f"owner=helm,status in ({','.join(PENDING)})"
        listed = self._core.list_secret_for_all_namespaces(label_selector=selector, _request_timeout=TIMEOUT)
        metas: list[Any] = [item.metadata for item in listed.items]
        return tuple((meta.namespace, meta.labels["name"], meta.labels["status"]) for meta in metas)

    def chart_version(self, namespace: str, release: str) -> str:
        """Version of the chart that a Helm release is deployed from; empty when it is not deployed."""
        selector = f"owner=helm,status=deployed,name={release}"
        listed = self._core.list_namespaced_secret(
            namespace, label_selector=selector, _request_timeout=TIMEOUT
        )
        # Helm's own encoding inside the API's: base64, gzip, JSON.
        items: list[Any] = listed.items
        texts = [base64.b64decode(base64.b64decode(item.data["release"])) for item in items]
        return str(json.loads(gzip.decompress(texts[-1]))["chart"]["metadata"]["version"]) if texts else ""


def _message(error: client.ApiException) -> str:
    try:
        return str(json.loads(error.body or "")["message"])
    except (TypeError, ValueError, KeyError):
        return str(error.reason)


def _deployment(item: Any) -> DeploymentFacts:
    status = item.status
    return DeploymentFacts(
        item.metadata.name,
        item.metadata.labels or {},
        item.metadata.generation or 0,
        status.observed_generation or 0,
        1 if item.spec.replicas is None else item.spec.replicas,
        status.updated_replicas or 0,
        status.available_replicas or 0,
    )


def _node(item: Any) -> NodeFacts:
    capacity, allocatable = item.status.capacity or {}, item.status.allocatable or {}
    return NodeFacts(
        item.metadata.name,
        item.metadata.labels or {},
        int(capacity.get(GPU, 0)),
        int(allocatable.get(GPU, 0)),
        _quantity(capacity.get("cpu", "0")),
        int(_quantity(capacity.get("memory", "0"))),
        len(
            {text for text in (item.metadata.annotations or {}).get(UNHEALTHY, "").split(",") if text.strip()}
        ),
    )


def _quantity(text: str) -> float:
    """Kubernetes' notation as a number: `500m` is 0.5, `2Ki` is 2048."""
    return float(_parse(text))


def _namespace(meta: Any) -> NamespaceFacts:
    written: set[str] = set()
    for entry in meta.managed_fields or []:
        if (entry.manager or "").startswith("pulumi-kubernetes"):
            fields = (entry.fields_v1 or {}).get("f:metadata", {}).get("f:labels", {})
            written |= {key.removeprefix("f:") for key in fields if key.startswith("f:")}
    return NamespaceFacts(meta.labels or {}, frozenset(written), meta.deletion_timestamp is not None)
