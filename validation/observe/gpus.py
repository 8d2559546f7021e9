"""V1: GPUs as the nodes offer them, their labels and their mode."""

from __future__ import annotations

import re
from typing import Any

from validation import names
from validation.observe import capacity, pods
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]

GPU_LABELS = (names.GPU_MEMORY_LABEL, names.GPU_PRODUCT_LABEL, names.GPU_COUNT_LABEL)
# vGPU types end in framebuffer size and series (A100-40C, L40S-48Q), passthrough names in the model.
VGPU_PRODUCT = re.compile(r"-\d+(-\d+)?[ABCQ]$")


def gpu_count(at: Snapshot) -> Json:
    """GPUs per node as the kubelet offers them, and the nodes' pools."""
    pool_of = {
        n["metadata"]["name"]: pods.label(n, at.outputs.nodePoolLabelKey) or "default"
        for n in capacity.gpu_nodes(at.nodes)
    }
    offered = {n["metadata"]["name"]: capacity.allocatable(n) for n in at.nodes if capacity.allocatable(n)}
    return {"allocatable": offered, "total": sum(offered.values()), "pools": pool_of}


def free_capacity(at: Snapshot) -> Json:
    """GPUs that nobody holds, within the bounds of the settings."""
    return {
        "freeGpus": at.capacity.free,
        "totalGpus": at.capacity.total,
        "heldByOthers": at.capacity.held,
        "maxGpus": at.outputs.validation.maxGpus,
        "nodePool": at.outputs.validation.nodePool,
        "why": _not_free(at),
    }


def _not_free(at: Snapshot) -> list[str]:
    """Who holds the GPUs that are not free, and which nodes take no pods."""
    offered = at.capacity.allocatable
    closed = [
        f"node {n['metadata']['name']} is {', '.join(why)}"
        for n in at.nodes
        if capacity.allocatable(n) and (why := _closed(n))
    ]
    pool = at.outputs.validation.nodePool
    where = f" in node pool {pool}" if pool else ""
    none = [] if offered or closed else [f"no node{where} offers {names.GPU_RESOURCE}"]
    return [*capacity.holders(at.pods, offered), *closed, *none]


def _closed(node: Json) -> list[str]:
    """Why a node takes no pods of the tests."""
    tainted = [f"tainted {taint}" for taint in capacity.taints(node)]
    return [*(["cordoned"] if node.get("spec", {}).get("unschedulable") else []), *tainted]


def gpu_labels(at: Snapshot) -> Json:
    """Labels of GPU feature discovery that are missing or zero."""
    missing: dict[str, list[str]] = {}
    seen: dict[str, Json] = {}
    for node in capacity.gpu_nodes(at.nodes):
        values = {key: pods.label(node, key) for key in GPU_LABELS}
        seen[node["metadata"]["name"]] = values
        lacking = [key for key, value in values.items() if not value or value == "0"]
        if lacking:
            missing[node["metadata"]["name"]] = lacking
    return {"missing": missing, "labels": seen}


def gpu_mode(at: Snapshot) -> Json:
    """Mode by product name or by the vGPU label of feature discovery, and what the vendor states of it."""
    nodes = capacity.gpu_nodes(at.nodes)
    products = sorted({pods.label(n, names.GPU_PRODUCT_LABEL) or "unknown" for n in nodes})
    modes = {mode_of(n) for n in nodes}
    drivers = sorted({pods.label(n, "nvidia.com/cuda.driver-version.full") or "not reported" for n in nodes})
    return {
        "mode": next(iter(modes)) if len(modes) == 1 else sorted(modes),
        "products": products,
        "drivers": drivers,
        **({"statement": _statement(at)} if "vgpu" in modes else {}),
    }


def _statement(at: Snapshot) -> str:
    """Run:ai runs on vGPU guests in the field; nobody but the vendor can call that supported."""
    said = at.outputs.support.get("gpu-mode")
    source = said.source if said else "the vendor's requirements name passthrough only"
    return f"vGPU is outside the vendor's support statement ({source})"


def mode_of(node: Json) -> str:
    """passthrough, vgpu, or unknown without a product label."""
    product = (pods.label(node, names.GPU_PRODUCT_LABEL) or "").removesuffix("-SHARED")
    if not product:
        return "unknown"
    vgpu = pods.label(node, "nvidia.com/vgpu.present") == "true" or VGPU_PRODUCT.search(product)
    return "vgpu" if vgpu else "passthrough"
