"""Facts of the cluster that a run is made on, for the report's first page; read once, when it begins."""

from __future__ import annotations

from collections import Counter
from typing import Any

from validation import names
from validation.cluster import Cluster, ClusterError
from validation.observe import capacity
from validation.observe.gpus import mode_of
from validation.observe.pods import label

Json = dict[str, Any]


def observe(cluster: Cluster) -> Json:
    """Kubernetes' version, nodes, GPUs by node, their mode, served API groups; `error` when nobody answers.

    A cluster that cannot be read is no reason to stop: preflight records that, and the report shows it.
    """
    try:
        nodes = cluster.items(names.NODES)
        return {
            "kubernetes": str(cluster.get("/version")["gitVersion"]).removeprefix("v"),
            # A cluster has no other identity than that of its oldest namespace.
            "uid": cluster.get(f"{names.NAMESPACES}/kube-system")["metadata"]["uid"],
            "nodes": len(nodes),
            "gpuNodes": _gpus(nodes),
            "gpuMode": _mode(nodes),
            "system": _common(nodes, "osImage"),
            "runtime": _common(nodes, "containerRuntimeVersion"),
            "apiGroups": sorted(group["name"] for group in cluster.get("/apis").get("groups", [])),
        }
    except ClusterError as error:
        return {"error": str(error)}


def _gpus(nodes: list[Json]) -> Json:
    """Node name → GPUs and product, for nodes that offer any."""
    return {
        node["metadata"]["name"]: {
            "gpus": capacity.allocatable(node),
            "product": label(node, names.GPU_PRODUCT_LABEL) or "unknown product",
        }
        for node in capacity.gpu_nodes(nodes)
    }


def _mode(nodes: list[Json]) -> str:
    return " and ".join(sorted({mode_of(node) for node in capacity.gpu_nodes(nodes)}))


def _common(nodes: list[Json], key: str) -> str:
    """What the nodes say of themselves; several answers with their counts."""
    said = Counter(
        str((node.get("status", {}).get("nodeInfo") or {}).get(key) or "unknown") for node in nodes
    )
    return next(iter(said), "") if len(said) < 2 else ", ".join(f"{n} x {what}" for what, n in said.items())
