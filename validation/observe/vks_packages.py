"""I11: the VKS packages as the workload cluster shows them, and what they hang on."""

from __future__ import annotations

import base64
from typing import Any

import yaml

from validation import names
from validation.cluster import ClusterError
from validation.observe.dcgm_counters import CHECK, counters
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
TELEGRAF = "telegraf.kubernetes.vmware.com"
CHECKS = (
    "vcf_operations.packages",
    "vcf_operations.proxy",
    "vcf_operations.telegraf",
    "vcf_operations.input",
    CHECK,
)
_INSTALLS = "/apis/packaging.carvel.dev/v1alpha1/packageinstalls"
_PROXY_SECRETS = ("metrics-proxy-tls-config", "metrics-proxy-http-config")
_PROXY_SERVICE = "supervisor-management-proxy"
_REFUSED = "Error writing to outputs"


def observe(at: Snapshot) -> Json:
    """Observations by check id; one that fails does not stop the others."""
    found: Json = {}
    for check, look in zip(CHECKS, (packages, proxy, telegraf, data_values, counters), strict=True):
        try:
            found[check] = look(at)
        except ClusterError as error:
            found[check] = {"error": str(error)}
    return found


def packages(at: Snapshot) -> Json:
    """Per package: how many PackageInstalls refer to it, and whether it is reconciled."""
    installs = at.cluster.items(_INSTALLS)
    found: Json = {}
    for package in at.outputs.vksMonitoring.packages:
        mine = [item for item in installs if _package(item) == package.name]
        found[package.name] = {
            "owners": len(mine),
            "reconciled": [_condition(item, "ReconcileSucceeded") for item in mine],
            "by": [f"{i['metadata']['namespace']}/{i['metadata']['name']}" for i in mine],
            "versions": [str((i.get("status") or {}).get("version", "")) for i in mine],
        }
    why = [str((item.get("status") or {}).get("usefulErrorMessage") or "")[:300] for item in installs]
    return {**found, "why": [text for text in why if text]}


def proxy(at: Snapshot) -> Json:
    """What the Supervisor Management Proxy puts into a workload cluster."""
    secrets = {
        meta["name"] for meta in at.cluster.metadata(names.in_namespace("/api/v1/secrets", "kube-system"))
    }
    missing = [f"Secret kube-system/{name}" for name in _PROXY_SECRETS if name not in secrets]
    slices = at.cluster.items(
        names.in_namespace("/apis/discovery.k8s.io/v1/endpointslices", "default"),
        labelSelector=f"kubernetes.io/service-name={_PROXY_SERVICE}",
    )
    if not any(piece.get("endpoints") for piece in slices):
        missing.append(f"endpoints of Service default/{_PROXY_SERVICE}")
    return {"missing": missing}


def telegraf(at: Snapshot) -> Json:
    """Telegraf's pods, and what their last lines say of the way out."""
    home = _home(at)
    pods = [pod for pod in at.pods if pod["metadata"]["namespace"] == home]
    waiting = {pod["metadata"]["name"]: _waiting(pod) for pod in pods if _waiting(pod)}
    refused: list[str] = []
    for pod in pods:
        name = pod["metadata"]["name"]
        if name not in waiting:
            # One line per pod is enough to know why.
            lines = at.cluster.logs(home, name, tail=20).splitlines()
            refused += [line.strip()[:300] for line in lines if _REFUSED in line][-1:]
    mounts = at.cluster.items(names.in_namespace(names.EVENTS, home), fieldSelector="reason=FailedMount")
    why = sorted({str(event.get("message", ""))[:300] for event in mounts}) if waiting else []
    return {"pods": len(pods), "waiting": waiting, "refused": refused, "why": why}


def data_values(at: Snapshot) -> Json:
    """Two of Telegraf's data values; of their Secret nothing else is kept."""
    for item in at.cluster.items(_INSTALLS):
        if _package(item) == TELEGRAF:
            merged = _values(at, item)
            inputs = merged.get("inputPluginsForDeployment") or {}
            dcgm = (inputs.get("dcgm_exporter_metrics") or {}).get("enabled", False)
            return {"dcgm": bool(dcgm), "metricProxy": bool(merged.get("isMetricProxyConfigured", False))}
    return {"why": f"no PackageInstall of {TELEGRAF}"}


def _values(at: Snapshot, item: Json) -> Json:
    """Later Secrets and later keys win, as with kapp-controller, here by their topmost keys."""
    merged: Json = {}
    namespace = item["metadata"]["namespace"]
    for source in item["spec"].get("values") or []:
        reference = source.get("secretRef") or {}
        path = names.in_namespace("/api/v1/secrets", namespace)
        secret = at.cluster.find(f"{path}/{reference.get('name')}") or {}
        for _, text in sorted((secret.get("data") or {}).items()):
            merged |= yaml.safe_load(_decoded(text)) or {}
    return merged


def _waiting(pod: Json) -> str:
    """What a pod waits for, empty for one whose containers are ready."""
    status = pod.get("status", {})
    states = [c for c in status.get("containerStatuses") or [] if not c.get("ready")]
    if status.get("phase") == "Running" and not states:
        return ""
    reasons = {str(((c.get("state") or {}).get("waiting") or {}).get("reason", "not ready")) for c in states}
    return ", ".join(sorted(reasons)) or str(status.get("phase", "unknown"))


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode("utf-8", "replace")


def _package(item: Json) -> str:
    return str((item["spec"].get("packageRef") or {}).get("refName", ""))


def _condition(item: Json, kind: str) -> str:
    conditions = (item.get("status") or {}).get("conditions") or []
    return next((str(c["status"]) for c in conditions if c["type"] == kind), "unknown")


def _home(at: Snapshot) -> str:
    known = [p.namespace for p in at.outputs.vksMonitoring.packages if p.name == TELEGRAF]
    return known[0] if known else "tanzu-system-telegraf"
