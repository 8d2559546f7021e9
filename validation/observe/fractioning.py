"""What sharing by NVIDIA's fractioning operator needs: driver, GPU Operator, and its own readiness."""

from __future__ import annotations

import re
from typing import Any

from validation.observe import capacity
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
# Run:ai 3.0, page migrate-gpu-fractions: CUDA 13.4's driver branch, and the operator that knows it.
DRIVER_BRANCH = 615
GPU_OPERATOR = (26, 7, 1)
_DRIVER_LABELS = (
    "gpu-fractioning.kai.scheduler/nvidia-driver-version.major",
    "nvidia.com/cuda.driver-version.major",
)
_READY = "gpu-fractioning.nvidia.com/Ready"


def fractioning(at: Snapshot) -> Json:
    """The stack's way of sharing, and what NVIDIA's needs and was not found; nothing for another."""
    if at.outputs.sharing != "fractioning":
        return {"sharing": at.outputs.sharing, "missing": []}
    policies = at.cluster.items("/apis/nvidia.com/v1/clusterpolicies")
    missing = _operator(policies) + [line for node in capacity.gpu_nodes(at.nodes) for line in _node(node)]
    return {"sharing": "fractioning", "missing": sorted(missing), "looked": True}


def _operator(policies: list[Json]) -> list[str]:
    if len(policies) != 1:
        return [f"{len(policies)} ClusterPolicies; expected one: the GPU Operator's"]
    spec = policies[0].get("spec", {})
    missing = []
    version = str((spec.get("validator") or {}).get("version", ""))
    numbers = tuple(int(part) for part in re.findall(r"[0-9]+", version)[:3])
    if numbers < GPU_OPERATOR:
        missing.append(f"GPU Operator {version or 'of an unknown version'}; expected 26.7.1 or later")
    if (spec.get("cdi") or {}).get("nriPluginEnabled"):
        missing.append("the GPU Operator's NRI plugin is on; expected cdi.nriPluginEnabled false")
    return missing


def _node(node: Json) -> list[str]:
    name = node["metadata"]["name"]
    labels = node["metadata"].get("labels") or {}
    branch = next((labels[key] for key in _DRIVER_LABELS if labels.get(key, "").isdigit()), "")
    missing = []
    if not branch or int(branch) < DRIVER_BRANCH:
        found = f"driver branch r{branch}" if branch else "no label with the driver's branch"
        missing.append(f"{name}: {found}; expected r{DRIVER_BRANCH} or later")
    conditions = {c["type"]: c["status"] for c in node.get("status", {}).get("conditions") or []}
    if conditions.get(_READY) != "True":
        missing.append(f"{name}: condition {_READY} is {conditions.get(_READY, 'absent')}; expected True")
    return missing
