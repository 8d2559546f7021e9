"""Which GPU the kubelet gave to a pod, from a source that KAI does not write."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from validation import names
from validation.cluster import Cluster, ClusterError
from validation.patience import until

Json = dict[str, Any]
EXPORTER_LABEL = "app=nvidia-dcgm-exporter"
EXPORTER, NO_EXPORTER = "DCGM exporter", "no DCGM exporter on the node"
# An exporter reads its GPUs every half minute.
PATIENCE = 45.0


class Told(NamedTuple):
    """A pod's UUIDs; `by`: EXPORTER, NO_EXPORTER, or why an exporter did not tell; `where` they stand."""

    uuids: list[str]
    by: str
    where: str


def uuids_of_pod(cluster: Cluster, pod: Json) -> Told:
    """From the node's DCGM exporter, which asks the kubelet; it is asked until it knows the pod.

    Else from `nvidia-smi -L` in the pod, which is no second witness of what is seen there.
    """
    told, _ = until(
        lambda: _exported(cluster, pod), lambda it: bool(it.uuids or it.by == NO_EXPORTER), PATIENCE
    )
    if told.uuids:
        return told
    meta = pod["metadata"]
    try:
        said = cluster.execute(meta["namespace"], meta["name"], ["nvidia-smi", "-L"])
    except ClusterError as error:
        return Told([], told.by, f"no DCGM exporter knows {meta['name']}, and {error}")
    found = sorted(set(re.findall(r"UUID: (GPU-[0-9A-Za-z-]+)", said)))
    return Told(found, told.by, f"nvidia-smi -L in {meta['name']}")


def _exported(cluster: Cluster, pod: Json) -> Told:
    meta, node = pod["metadata"], pod["spec"]["nodeName"]
    why = NO_EXPORTER
    for exporter, port in _exporters(cluster, node):
        name = f"{exporter['namespace']}/{exporter['name']}"
        path = f"/api/v1/namespaces/{exporter['namespace']}/pods/{exporter['name']}:{port}/proxy/metrics"
        try:
            found = uuids_in_metrics(cluster.text(path), meta["namespace"], meta["name"])
        except ClusterError as error:
            why = f"DCGM exporter {name} was not read: {error}"
            continue
        if found:
            return Told(found, EXPORTER, f"DCGM exporter {name}")
        why = f"DCGM exporter {name} does not know {meta['name']}"
    return Told([], why, "")


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
