"""The Prometheus instance `kit`: its spec, and the rights it scrapes with."""

from __future__ import annotations

from typing import Any

from components.config.sections import Monitoring

INSTANCE = "kit"
SERVICE = "prometheus-operated"
PORT = 9090
USER = 65532
ADDITIONAL = {"name": "prometheus-scrapes", "key": "scrapes.yaml"}

SCRAPE_RULES: list[dict[str, Any]] = [
    {"apiGroups": [""], "resources": ["services", "endpoints", "pods"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list", "watch"]},
]


def seconds(duration: str) -> int:
    """Seconds of a duration as the settings have them, such as 30s or 5m."""
    return int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]


def url(namespace: str) -> str:
    """Where the cluster's parts reach it."""
    return f"http://{SERVICE}.{namespace}.svc:{PORT}"


def instance(settings: Monitoring, image: str, version: str, pull_secret: str) -> dict[str, Any]:
    """One replica without a volume: its data is for tests and fair share, not for keeping.

    `ADDITIONAL` is a Secret, for which the operator asks, although nothing in it is secret.
    """
    every: dict[str, Any] = {}
    pull = {"imagePullSecrets": [{"name": pull_secret}]} if pull_secret else {}
    return {
        "replicas": 1,
        "image": image,
        "version": f"v{version}",
        "imagePullPolicy": "IfNotPresent",
        "serviceAccountName": f"prometheus-{INSTANCE}",
        "retention": settings.retention,
        "scrapeInterval": settings.scrape_interval,
        "evaluationInterval": settings.scrape_interval,
        # An empty selector is "all"; a missing one would be "none".
        "serviceMonitorSelector": every,
        "serviceMonitorNamespaceSelector": every,
        "podMonitorSelector": every,
        "podMonitorNamespaceSelector": every,
        "ruleSelector": every,
        "ruleNamespaceSelector": every,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "resources": {"requests": {"cpu": "50m", "memory": "200Mi"}},
        **({} if settings.kubelet == "off" else {"additionalScrapeConfigs": ADDITIONAL}),
        **pull,
    }
