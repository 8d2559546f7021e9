"""Workload Map by its chart: what KAI's pod grouper asks about kinds of workload it does not know."""

from __future__ import annotations

from typing import Any

import pulumi

from components.addons.base import Addon
from components.addons.inputs import RESTRICTED_CONTAINER, RESTRICTED_POD, AddonInputs
from components.charts import ChartSource

NAME = "workload-map"


def values(inputs: AddonInputs) -> dict[str, Any]:
    """Helm values; without the operator only the CRD is installed, by a job of the chart's."""
    repository, tag = inputs.repository_and_tag("operator")
    kubectl, kubectl_tag = inputs.repository_and_tag("kubectl")
    pod = RESTRICTED_POD | {"runAsUser": 65532, "runAsGroup": 0}
    container = RESTRICTED_CONTAINER | {"readOnlyRootFilesystem": True}
    return {
        "operator": {"enabled": inputs.settings.workload_map.operator},
        "image": {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"},
        "imagePullSecrets": inputs.pull_secrets(),
        "podSecurityContext": pod,
        "securityContext": container,
        "webhook": {"enabled": True, "cert": {"provisionMode": "auto"}},
        "crdUpgrader": {
            "enabled": True,
            "image": {"repository": kubectl, "tag": kubectl_tag, "pullPolicy": "IfNotPresent"},
            "podSecurityContext": pod,
            "securityContext": container,
        },
    }


class WorkloadMap(Addon):
    """The operator of the `Karta` kind, or only the kind."""

    def __init__(
        self, inputs: AddonInputs, source: ChartSource, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(NAME, inputs, source, opts)
        self.release(values(inputs), [])
        self.register_outputs({})
