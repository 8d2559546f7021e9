"""What fractions of Run:ai 3.0 need of the nodes: driver, GPU Operator, no NRI plugin of its own."""

from __future__ import annotations

import re
from typing import Any

from validation import names
from validation.observe import capacity, pods
from validation.observe.gpus import mode_of
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
# Source: Run:ai 3.0, migrate-gpu-fractions.
DRIVER, OPERATOR = 615, (26, 7, 1)
DRIVER_LABEL = "nvidia.com/cuda.driver-version.full"
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"


def ready(at: Snapshot) -> Json:
    """Nodes with an older driver, and settings of the GPU Operator that stand in the way."""
    if at.outputs.sharing != "fractioning":
        return {}
    nodes = capacity.gpu_nodes(at.nodes)
    drivers = {n["metadata"]["name"]: pods.label(n, DRIVER_LABEL) or "not reported" for n in nodes}
    old = [f"{name}: driver {told}" for name, told in drivers.items() if _branch(told) < DRIVER]
    guests = [n["metadata"]["name"] for n in nodes if mode_of(n) == "vgpu"]
    return {
        "old": old,
        "operator": _operator(at),
        "drivers": drivers,
        "why": [f"{name} is a vGPU guest: its driver comes with the host's bundle" for name in guests],
    }


def _branch(version: str) -> int:
    match = re.match(r"(\d+)", version)
    return int(match[1]) if match else 0


def _operator(at: Snapshot) -> list[str]:
    faults = []
    for policy in at.cluster.items(POLICIES):
        if ((policy["spec"].get("cdi") or {}).get("nriPluginEnabled")) is True:
            faults.append(f"ClusterPolicy {policy['metadata']['name']}: cdi.nriPluginEnabled is true")
    for deployment in at.cluster.items(names.DEPLOYMENTS):
        if deployment["metadata"]["name"] == "gpu-operator":
            image = str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])
            told = re.search(r":v?(\d+)\.(\d+)\.(\d+)", image)
            if told and tuple(map(int, told.groups())) < OPERATOR:
                faults.append(f"Deployment {pods.name(deployment)}: {image.rpartition('/')[2]}")
    return faults
