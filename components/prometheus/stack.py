"""Values of kube-prometheus-stack, for clusters that install it instead of the operator's bundle."""

from __future__ import annotations

from typing import Any

from components.catalog import Part
from components.config.sections import Monitoring
from components.prometheus.instance import INSTANCE


def values(settings: Monitoring, part: Part, mirror: str, pull_secret: str) -> dict[str, Any]:
    """One operator, one Prometheus that selects every ServiceMonitor, kube-state-metrics.

    Left out: node-exporter (host namespaces would need `privileged`), Grafana and Alertmanager (not this
    kit's business), and the operator's webhook with its certificate jobs.
    """
    every: dict[str, Any] = {}

    def image(name: str) -> dict[str, str]:
        return image_value(part.image(name, mirror))

    return {
        "fullnameOverride": INSTANCE,
        "global": {"imagePullSecrets": [{"name": pull_secret}] if pull_secret else []},
        "nodeExporter": {"enabled": False},
        "grafana": {"enabled": False},
        "alertmanager": {"enabled": False},
        "prometheusOperator": {
            "image": image("operator"),
            "prometheusConfigReloader": {"image": image("config-reloader")},
            "admissionWebhooks": {"enabled": False},
            "tls": {"enabled": False},
        },
        "prometheus": {
            "prometheusSpec": {
                "image": image("prometheus"),
                "retention": settings.retention,
                "scrapeInterval": settings.scrape_interval,
                "evaluationInterval": settings.scrape_interval,
                # Otherwise only objects of this release are selected, and KAI's are not.
                "serviceMonitorSelectorNilUsesHelmValues": False,
                "podMonitorSelectorNilUsesHelmValues": False,
                "ruleSelectorNilUsesHelmValues": False,
                "serviceMonitorSelector": every,
                "serviceMonitorNamespaceSelector": every,
            }
        },
        "kube-state-metrics": {"image": image("kube-state-metrics")},
    }


def image_value(reference: str) -> dict[str, str]:
    """`quay.io/x/y:1` as the chart's registry, repository and tag; a mirror's path stays with its host."""
    path, tag = reference.rsplit(":", 1)
    parts = path.rsplit("/", 2)
    return {"registry": parts[0], "repository": "/".join(parts[1:]), "tag": tag}
