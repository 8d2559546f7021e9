"""Which GPU the kubelet gave to a pod, from a source that KAI does not write."""

from __future__ import annotations

import re
from typing import Any

from validation import names
from validation.cluster import Cluster, ClusterError

Json = dict[str, Any]
EXPORTER_LABEL = "app=nvidia-dcgm-exporter"


def uuids_of_pod(cluster: Cluster, pod: Json) -> tuple[list[str], str]:
    """(UUIDs, source): from the node's DCGM exporter, which reads the kubelet's pod-resources API, else from
    `nvidia-smi -L` in the pod. Empty, with the reason as source, when neither answers."""
    meta, node = pod["metadata"], pod["spec"]["nodeName"]
    for exporter, port in _exporters(cluster, node):
        path = f"/api/v1/namespaces/{exporter['namespace']}/pods/{exporter['name']}:{port}/proxy/metrics"
        try:
            found = uuids_in_metrics(cluster.text(path), meta["namespace"], meta["name"])
        except ClusterError:
            continue
        if found:
            return found, f"DCGM exporter {exporter['namespace']}/{exporter['name']}"
    try:
        said = cluster.execute(meta["namespace"], meta["name"], ["nvidia-smi", "-L"])
    except ClusterError as error:
        return [], f"no DCGM exporter knows {meta['name']}, and {error}"
    found = sorted(set(re.findall(r"UUID: (GPU-[0-9A-Za-z-]+)", said)))
    return found, f"nvidia-smi -L in {meta['name']}"


def uuids_in_metrics(text: str, namespace: str, pod: str) -> list[str]:
    """UUIDs of the DCGM series that carry this pod's labels (Prometheus text format)."""
    found = set()
    for line in text.splitlines():
        if not line.startswith("DCGM_"):
            continue
        labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
        if labels.get("pod") == pod and labels.get("namespace") == namespace and "UUID" in labels:
            found.add(labels["UUID"])
    return sorted(found)


def _exporters(cluster: Cluster, node: str) -> list[tuple[Json, int]]:
    """Exporter pods on a node with their port, by way of the Service's endpoints."""
    found: list[tuple[Json, int]] = []
    for service in cluster.items(names.SERVICES, labelSelector=EXPORTER_LABEL):
        meta = service["metadata"]
        selector = f"kubernetes.io/service-name={meta['name']}"
        path = names.in_namespace(names.ENDPOINT_SLICES, meta["namespace"])
        for piece in cluster.items(path, labelSelector=selector):
            for endpoint in piece.get("endpoints") or []:
                target = endpoint.get("targetRef") or {}
                if endpoint.get("nodeName") == node and target.get("kind") == "Pod" and piece.get("ports"):
                    found.append((target, int(piece["ports"][0]["port"])))
    return found
