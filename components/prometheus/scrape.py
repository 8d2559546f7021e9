"""ServiceMonitors: what Prometheus scrapes from KAI and from the GPU exporter."""

from __future__ import annotations

from typing import Any

KAI_PORTS = ("metrics", "http-metrics")
DCGM_APP = "nvidia-dcgm-exporter"


def kai_monitor(namespace: str, interval: str) -> dict[str, Any]:
    """Scheduler, binder, admission and queue controller: the Services that KAI's operator labels."""
    return {
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
        "endpoints": [{"port": port, "interval": interval} for port in KAI_PORTS],
    }


def dcgm_monitor(namespace: str, interval: str) -> dict[str, Any]:
    """The exporter's labels pod, namespace and container name the GPU's user: they must not be renamed."""
    return {
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchLabels": {"app": DCGM_APP}},
        "endpoints": [{"port": "gpu-metrics", "interval": interval, "honorLabels": True}],
    }
