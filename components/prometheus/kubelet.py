"""CPU and memory of containers and nodes, from each kubelet's `/metrics/resource`.

Neither way turns TLS verification off, which kube-prometheus-stack's own monitor would:

`apiserver`  through the API server, whose certificate the cluster's CA signs. Works everywhere, also with
             kubelets that signed their own certificate, but needs `get` on nodes/proxy, which is a strong
             right: who has it can also run commands in pods.
`direct`     from the kubelets, with `get` on nodes/metrics only; needs serving certificates that the
             cluster's CA signed (kubelet setting serverTLSBootstrap).
"""

from __future__ import annotations

from typing import Any

from components.config.sections import Monitoring
from components.prometheus.instance import seconds

Json = dict[str, Any]

JOB = "kubelet"
_PATH = "/metrics/resource"
# A kubelet measures its containers about as often; asking more often only costs.
_SECONDS = 15
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def scrape_config(settings: Monitoring) -> list[Json]:
    """Prometheus' own configuration: no monitor object can take the target's name into the path."""
    way, interval = settings.kubelet, settings.scrape_interval
    if way == "off":
        return []
    return [
        {
            "job_name": JOB,
            "scheme": "https",
            "scrape_interval": f"{max(seconds(interval), _SECONDS)}s",
            "metrics_path": _PATH,
            "authorization": {"credentials_file": f"{_ACCOUNT}/token"},
            "tls_config": {"ca_file": f"{_ACCOUNT}/ca.crt"},
            "kubernetes_sd_configs": [{"role": "node"}],
            "relabel_configs": [
                {"source_labels": ["__meta_kubernetes_node_name"], "target_label": "node"},
                *(_through_the_api_server() if way == "apiserver" else []),
            ],
        }
    ]


def _through_the_api_server() -> list[Json]:
    path = rf"/api/v1/nodes/${{1}}/proxy{_PATH}"
    return [
        {"source_labels": ["__meta_kubernetes_node_name"], "target_label": "instance"},
        {"target_label": "__address__", "replacement": "kubernetes.default.svc:443"},
        {
            "source_labels": ["__meta_kubernetes_node_name"],
            "target_label": "__metrics_path__",
            "replacement": path,
        },
    ]


def rules(settings: Monitoring) -> list[Json]:
    """What Prometheus' account needs for it."""
    if settings.kubelet == "off":
        return []
    resource = "nodes/proxy" if settings.kubelet == "apiserver" else "nodes/metrics"
    return [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": [resource], "verbs": ["get"]},
    ]
