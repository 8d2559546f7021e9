"""Knative as Run:ai needs it: features by name, https outside, and the webhook's own word."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.cluster import ClusterError
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
# Fields that Run:ai's inference workloads carry. Source: Run:ai 2.25, system requirements.
FEATURES = (
    *(f"kubernetes.podspec-{name}" for name in ("affinity", "init-containers", "persistent-volume-claim")),
    *(
        f"kubernetes.podspec-{name}"
        for name in ("persistent-volume-write", "schedulername", "securitycontext")
    ),
    *(
        f"kubernetes.podspec-{name}"
        for name in ("tolerations", "volumes-emptydir", "fieldref", "nodeselector")
    ),
    *(f"kubernetes.podspec-{name}" for name in ("hostipc", "hostnetwork")),
    "kubernetes.containerspec-addcapabilities",
    "multi-container",
)


def knative(at: Snapshot) -> Json:
    """Features that are off, the scheme of URLs, and what the webhook says of a Service with a scheduler."""
    if not at.outputs.inference.enabled:
        return {}
    namespace = at.outputs.inference.namespace
    features, network = _data(at, namespace, "config-features"), _data(at, namespace, "config-network")
    off = [name for name in FEATURES if str(features.get(name, "disabled")).lower() != "enabled"]
    return {
        "off": off,
        "scheme": network.get("default-external-scheme", "http"),
        "service": _refusal(at),
        "why": [f"config-features {name} is {features.get(name) or 'not set'}" for name in off],
    }


def _data(at: Snapshot, namespace: str, name: str) -> Json:
    found = at.cluster.find(f"{names.in_namespace(names.CONFIG_MAPS, namespace)}/{name}") or {}
    return found.get("data") or {}


def _refusal(at: Snapshot) -> str:
    namespace = at.outputs.projects[0].namespace if at.outputs.projects else "default"
    container = {"image": at.outputs.images["cuda"], "securityContext": {"runAsNonRoot": True}}
    pod = {
        "schedulerName": at.outputs.schedulerName,
        "securityContext": {"runAsUser": 65532},
        "containers": [container],
    }
    body = {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": "runai-kit-preflight", "namespace": namespace},
        "spec": {"template": {"spec": pod}},
    }
    try:
        at.cluster.create(names.in_namespace(names.KNATIVE_SERVICES, namespace), body, dry_run=True)
    except ClusterError as error:
        return str(error)
    return "admitted"
