"""One Prometheus Operator and one owner of its CRDs per cluster."""

from __future__ import annotations

from components.cluster import Cluster
from components.config.sections import Monitoring
from components.connect import ClusterError

CRD = ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "prometheuses.monitoring.coreos.com")
# kapp marks everything that it makes.
_KAPP = "kapp.k14s.io/app"
# The operator's own manifests and its chart.
_OPERATORS = "app.kubernetes.io/name in (prometheus-operator, kube-prometheus-stack-prometheus-operator)"
_HINT = "or monitoring.enabled: false"


def refuse_second_operator(cluster: Cluster, settings: Monitoring, namespace: str) -> None:
    """Looks who owns CRDs and operator; `namespace` is this stack's own. Raises ClusterError."""
    if not settings.enabled:
        return
    kinds = cluster.custom_object(*CRD)
    owner = _owner(cluster, kinds, namespace)
    if settings.operator == "existing" and kinds is None:
        raise ClusterError(
            "context",
            f"no CustomResourceDefinition {CRD[-1]}",
            'that of a Prometheus Operator while monitoring.operator is "existing"',
            f'set monitoring.operator to "own", {_HINT}',
        )
    if settings.operator == "own" and owner:
        raise ClusterError(
            "context",
            f"a Prometheus Operator of {owner}",
            f"none beside the one that this stack installs in namespace {namespace}",
            f'set monitoring.operator to "existing" with source chart, {_HINT}',
        )


def _owner(cluster: Cluster, kinds: dict[str, object] | None, namespace: str) -> str:
    """Who else brings the operator or its kinds; empty for nobody."""
    meta = (kinds or {}).get("metadata")
    labels = meta.get("labels") or {} if isinstance(meta, dict) else {}
    if labels.get(_KAPP):
        return f"a package (CustomResourceDefinition {CRD[-1]} has label {_KAPP}={labels[_KAPP]})"
    found = cluster.custom_objects("apps", "v1", "deployments", _OPERATORS)
    others = [item["metadata"] for item in found if item["metadata"]["namespace"] != namespace]
    return f"Deployment {others[0]['namespace']}/{others[0]['name']}" if others else ""
