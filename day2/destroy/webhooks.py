"""Webhooks that nobody answers: they would refuse every object, and so hold up the whole destroy."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from validation.cluster import Cluster

Json = dict[str, Any]
_ROOT = "/apis/admissionregistration.k8s.io/v1/"
_KINDS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


def of_namespaces(cluster: Cluster, namespaces: Collection[str]) -> Iterator[tuple[str, Json]]:
    """(path, configuration) of those that ask a Service in one of the namespaces."""
    for kind in _KINDS:
        for item in cluster.items(_ROOT + kind):
            if any(service["namespace"] in namespaces for service in _services(item)):
                yield f"{_ROOT}{kind}/{item['metadata']['name']}", item


def unanswered(cluster: Cluster, namespaces: Collection[str]) -> list[str]:
    """Paths of the namespaces' configurations of which a Service has no ready endpoint."""
    return [
        path
        for path, item in of_namespaces(cluster, namespaces)
        if not all(_answers(cluster, service) for service in _services(item))
    ]


def _services(item: Json) -> list[Json]:
    hooks = item.get("webhooks") or []
    return [hook["clientConfig"]["service"] for hook in hooks if hook["clientConfig"].get("service")]


def _answers(cluster: Cluster, service: Json) -> bool:
    slices = cluster.items(
        f"/apis/discovery.k8s.io/v1/namespaces/{service['namespace']}/endpointslices",
        labelSelector=f"kubernetes.io/service-name={service['name']}",
    )
    endpoints = [endpoint for item in slices for endpoint in item.get("endpoints") or []]
    return any((endpoint.get("conditions") or {}).get("ready", True) for endpoint in endpoints)
