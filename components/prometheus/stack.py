"""Values of kube-prometheus-stack, for clusters that install it instead of the operator's bundle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from components.catalog import Part
from components.config.sections import Monitoring
from components.kai.inputs import QUEUE_LABEL
from components.prometheus import dashboards, kubelet, state_metrics
from components.prometheus.instance import INSTANCE

_SELECTED = ("serviceMonitor", "podMonitor", "rule")


def values(settings: Monitoring, part: Part, mirror: str, pull_secret: str) -> dict[str, Any]:
    """One operator, one Prometheus that selects every monitor and rule, kube-state-metrics, perhaps Grafana.

    Left out: node-exporter (host namespaces would need `privileged`), Alertmanager (not this kit's business),
    the operator's webhook with its certificate jobs, the chart's rules (this kit has its own), and its
    scrapes of kubelets and control plane parts, which turn TLS verification off or find nothing on a managed
    cluster.
    """

    def image(name: str) -> dict[str, str]:
        return image_value(part.image(name, mirror))

    own = settings.operator == "own"
    unscraped = ("kubelet", "kubeControllerManager", "kubeScheduler", "kubeEtcd", "kubeProxy")
    return {
        "fullnameOverride": INSTANCE,
        "global": {"imagePullSecrets": [{"name": pull_secret}] if pull_secret else []},
        "nodeExporter": {"enabled": False},
        "alertmanager": {"enabled": False},
        "defaultRules": {"create": False},
        **{name: {"enabled": False} for name in unscraped},
        "grafana": _grafana(image) if settings.grafana else {"enabled": False},
        "crds": {"enabled": own},
        "prometheusOperator": {
            "enabled": own,
            "image": image("operator"),
            "prometheusConfigReloader": {"image": image("config-reloader")},
            "admissionWebhooks": {"enabled": False},
            "tls": {"enabled": False},
            "kubeletService": {"enabled": False},
        },
        "prometheus": {
            "additionalRulesForClusterRole": kubelet.rules(settings),
            "prometheusSpec": {
                "image": image("prometheus"),
                "retention": settings.retention,
                "scrapeInterval": settings.scrape_interval,
                "evaluationInterval": settings.scrape_interval,
                # Otherwise only objects of this release are selected, and KAI's are not.
                "serviceMonitorSelectorNilUsesHelmValues": False,
                "podMonitorSelectorNilUsesHelmValues": False,
                "ruleSelectorNilUsesHelmValues": False,
                **{f"{kind}{what}": {} for kind in _SELECTED for what in ("Selector", "NamespaceSelector")},
                "additionalScrapeConfigs": kubelet.scrape_config(settings),
            },
        },
        "kube-state-metrics": {
            "image": image("kube-state-metrics"),
            "collectors": [kind for kinds in state_metrics.KINDS.values() for kind in kinds],
            "metricLabelsAllowlist": state_metrics.label_allowlist(QUEUE_LABEL),
            "metricAnnotationsAllowList": state_metrics.ANNOTATIONS,
            "customResourceState": {"enabled": True, "config": state_metrics.custom_resources()},
            "rbac": {"extraRules": state_metrics.custom_rules()},
        },
    }


def _grafana(image: Callable[[str], dict[str, str]]) -> dict[str, Any]:
    """Grafana with this kit's dashboards, from its own namespace, and without the chart's.

    The chart's default password stands in its documentation; an empty one makes it invent one for its Secret.
    """
    return {
        "enabled": True,
        "image": image("grafana"),
        "adminPassword": "",
        "defaultDashboardsEnabled": False,
        # A Role, not a ClusterRole that reads every Secret of the cluster.
        "rbac": {"namespaced": True},
        # It runs as root.
        "initChownData": {"enabled": False},
        "testFramework": {"enabled": False},
        "sidecar": {
            "image": image("grafana-sidecar"),
            "dashboards": {"enabled": True, **sidecar_label(), "searchNamespace": ""},
            "datasources": {"enabled": True, "searchNamespace": "", "alertmanager": {"enabled": False}},
        },
    }


def own_pools(namespace: str, release: str) -> dict[str, str]:
    """Source → scrape pool of the monitors that the chart makes for its own parts."""
    return {
        "prometheus": f"serviceMonitor/{namespace}/{INSTANCE}-prometheus",
        "kube-state-metrics": f"serviceMonitor/{namespace}/{release}-kube-state-metrics",
    }


def sidecar_label() -> dict[str, str]:
    """How the sidecar knows this kit's ConfigMaps."""
    ((key, value),) = dashboards.LABEL.items()
    return {"label": key, "labelValue": value}


def image_value(reference: str) -> dict[str, str]:
    """`quay.io/x/y:1` as the chart's registry, repository and tag; a mirror's path stays with its host."""
    path, tag = reference.rsplit(":", 1)
    parts = path.rsplit("/", 2)
    return {"registry": parts[0], "repository": "/".join(parts[1:]), "tag": tag}
