"""Data values of the VKS packages, and whether a package knows them.

Keys: the packages' own property lists of prometheus 3.5.3 and telegraf 1.38.4 (VKS standard packages).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from components.config.model import Settings

Json = dict[str, Any]
PROMETHEUS, TELEGRAF = "prometheus.kubernetes.vmware.com", "telegraf.kubernetes.vmware.com"
# The packages' own namespaces; Telegraf's inputs look for Prometheus' parts in theirs.
HOMES = {PROMETHEUS: "tanzu-system-monitoring", TELEGRAF: "tanzu-system-telegraf"}
# What the input passes by default: the metrics that VCF Operations is known to read.
DCGM_FIELDS = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_VGPU_MEMORY_USAGE")
DCGM_SERVICE = "runai-kit-dcgm-exporter"
DCGM_PORT = 9400


def values(package: str, settings: Settings) -> Json:
    """Data values of one of the two packages."""
    return _prometheus(settings) if package == PROMETHEUS else _telegraf(settings)


def _prometheus(settings: Settings) -> Json:
    """Only what Telegraf and VCF Operations read; the Prometheus Operator has another owner."""
    components = {
        "prometheus": True,
        "kube-state-metrics": True,
        "node-exporter": True,
        "pushgateway": False,
        "alertmanager": False,
        "prometheus-operator": False,
    }
    claim = settings.vks_monitoring.storage_class
    volume = {"prometheus": {"pvc": {"storageClassName": claim}}} if claim else {}
    return {
        "namespace": HOMES[PROMETHEUS],
        "deploycomponents": components,
        "ingress": {"enabled": False},
        **volume,
    }


def _telegraf(settings: Settings) -> Json:
    chosen = settings.vks_monitoring
    return {
        "namespace": HOMES[TELEGRAF],
        "isMetricProxyConfigured": chosen.metric_proxy,
        "domainName": chosen.service_domain,
        "agent": {"interval": chosen.interval},
        "inputPluginsForDeployment": {"dcgm_exporter_metrics": _dcgm(settings)},
    }


def _dcgm(settings: Settings) -> Json:
    if not settings.vks_monitoring.dcgm:
        return {"enabled": False}
    domain = settings.vks_monitoring.service_domain
    host = f"{DCGM_SERVICE}.{settings.monitoring.dcgm_namespace}.svc.{domain}"
    return {
        "enabled": True,
        "dcgm_services": [f"http://{host}:{DCGM_PORT}/metrics"],
        "namepass": list(DCGM_FIELDS),
    }


def unknown(chosen: Json, schema: Json, path: str = "") -> Iterator[str]:
    """Keys that a package's schema (OpenAPI v3, `properties`) does not have; free objects take any key."""
    properties = schema.get("properties")
    if properties is None:
        return
    for key, value in chosen.items():
        here = f"{path}.{key}" if path else key
        if key not in properties:
            yield here
        elif isinstance(value, dict):
            yield from unknown(value, properties[key], here)
