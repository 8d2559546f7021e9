"""What Prometheus scrapes: ServiceMonitors and PodMonitors, one function per source of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]

KAI_PORTS = ("metrics", "http-metrics")
DCGM_APP = "nvidia-dcgm-exporter"
STATE_METRICS_APP = "kube-state-metrics"
# Label of Knative pods whose server offers metrics on the port that it serves requests on, as vLLM does.
SERVER_METRICS = {"runai-kit.io/metrics": "server"}
GATEWAY_APP = "3scale-kourier-gateway"
# By source of the ingress: labels of its pods and the port of its metrics.
INGRESS = {
    "rendered": ({"app.kubernetes.io/name": "haproxy"}, "metrics"),
    "controller": ({"app.kubernetes.io/name": "kubernetes-ingress"}, "stat"),
}
SERVING_APPS = ("controller", "webhook", "activator", "autoscaler", "net-kourier-controller")
# Envoy counts thousands of things; these are the ones that dashboards and people ask for.
GATEWAY_METRICS = (
    "envoy_cluster_upstream_rq_(xx|total|time_sum|time_count|retry|active)"
    "|envoy_cluster_membership_(healthy|total)"
    "|envoy_http_downstream_(rq_xx|rq_total|rq_active|cx_active)"
    "|envoy_server_(live|memory_allocated|uptime)"
)


@dataclass(frozen=True)
class Monitor:
    """One monitor object; `always`: it finds targets from the installation on, not only with workloads."""

    name: str
    kind: Literal["ServiceMonitor", "PodMonitor"]
    spec: Json
    always: bool = True

    def pool(self, namespace: str) -> str:
        """How the names of this monitor's scrape pools begin; the index of an endpoint follows."""
        return f"{self.kind[0].lower()}{self.kind[1:]}/{namespace}/{self.name}"


def kai_monitor(namespace: str, interval: str) -> Monitor:
    """Scheduler, binder, admission and queue controller: the Services that KAI's operator labels."""
    return Monitor(
        "kai-scheduler",
        "ServiceMonitor",
        {
            "namespaceSelector": {"matchNames": [namespace]},
            "selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
            "endpoints": [{"port": port, "interval": interval} for port in KAI_PORTS],
        },
    )


def dcgm_monitor(namespace: str, interval: str) -> Monitor:
    """The exporter's labels pod, namespace and container name the GPU's user: they must not be renamed."""
    node = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    endpoint = {"port": "gpu-metrics", "interval": interval, "honorLabels": True, "relabelings": [node]}
    return Monitor(
        "nvidia-dcgm-exporter",
        "ServiceMonitor",
        {
            "namespaceSelector": {"matchNames": [namespace]},
            "selector": {"matchLabels": {"app": DCGM_APP}},
            "endpoints": [endpoint],
        },
    )


def state_metrics_monitor(namespace: str, interval: str) -> Monitor:
    """Its labels namespace and pod are those of the objects it tells about."""
    return _own(namespace, STATE_METRICS_APP, {"app": STATE_METRICS_APP}, "http-metrics", interval, True)


def prometheus_monitor(namespace: str, interval: str) -> Monitor:
    """Prometheus about itself: rules that fail, scrapes that are too slow."""
    return _own(namespace, "prometheus", {"operated-prometheus": "true"}, "web", interval)


def _own(
    namespace: str, name: str, labels: dict[str, str], port: str, interval: str, honor: bool = False
) -> Monitor:
    endpoint: Json = {"port": port, "interval": interval, **({"honorLabels": True} if honor else {})}
    spec = {
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchLabels": labels},
        "endpoints": [endpoint],
    }
    return Monitor(name, "ServiceMonitor", spec)


def serving_monitors(namespace: str, projects: Sequence[str], interval: str) -> list[Monitor]:
    """Knative's controllers, its gateway, and in the projects' namespaces what serves requests."""
    return [
        _pods("knative-serving", [namespace], _one_of("app", SERVING_APPS), {"port": "metrics"}, interval),
        _pods("kourier-gateway", [namespace], {"matchLabels": {"app": GATEWAY_APP}}, _gateway(), interval),
        _of_services("queue-proxy", projects, {}, "http-usermetric", interval),
        _of_services("inference-server", projects, SERVER_METRICS, "user-port", interval),
    ]


def ingress_monitor(namespace: str, source: str, interval: str) -> Monitor:
    """HAProxy: `source` as in the settings, not `existing`, whose pods are not known."""
    labels, port = INGRESS[source]
    return _pods("haproxy", [namespace], {"matchLabels": labels}, {"port": port}, interval)


def _gateway() -> Json:
    keep = {"action": "keep", "sourceLabels": ["__name__"], "regex": GATEWAY_METRICS}
    # Envoy leaves out what was never touched, which is most of it.
    return {
        "port": "metrics",
        "path": "/stats/prometheus",
        "params": {"usedonly": [""]},
        "metricRelabelings": [keep],
    }


def _of_services(
    name: str, namespaces: Sequence[str], labels: dict[str, str], port: str, interval: str
) -> Monitor:
    """A port of Knative's pods; service and revision become labels, the metrics do not name them."""
    selector: Json = {"matchExpressions": [{"key": "serving.knative.dev/revision", "operator": "Exists"}]}
    if labels:
        selector["matchLabels"] = labels
    named = [
        {"sourceLabels": [f"__meta_kubernetes_pod_label_serving_knative_dev_{what}"], "targetLabel": target}
        for what, target in (("service", "ksvc"), ("revision", "revision"))
    ]
    return _pods(name, list(namespaces), selector, {"port": port, "relabelings": named}, interval, False)


def _pods(
    name: str, namespaces: list[str], selector: Json, endpoint: Json, interval: str, always: bool = True
) -> Monitor:
    spec = {
        "namespaceSelector": {"matchNames": namespaces},
        "selector": selector,
        "podMetricsEndpoints": [{**endpoint, "interval": interval}],
    }
    return Monitor(name, "PodMonitor", spec, always)


def _one_of(key: str, values: Sequence[str]) -> Json:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
