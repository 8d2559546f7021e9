"""Values of each chart that an add-on is installed from, by its role."""

from __future__ import annotations

from typing import Any

from components.addons import fractioning, gpu_values, grove, leader_worker_set, resource_values, workload_map
from components.addons.inputs import AddonInputs
from components.cluster import ClusterFacts

_BY_ROLE = {
    "gpuOperator": gpu_values.values,
    "leaderWorkerSet": leader_worker_set.values,
    "fractioning": fractioning.values,
    "grove": grove.values,
    "workloadMap": workload_map.values,
}


def chart_values(role: str, inputs: AddonInputs) -> dict[str, Any]:
    """Values as the component hands them to Helm. Raises KeyError for a role without a chart."""
    if role == "resourceManagement":
        return resource_values.values(inputs, ClusterFacts("", (), {}))
    return _BY_ROLE[role](inputs)
