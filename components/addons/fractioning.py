"""The GPU Fractioning Operator by its chart: memory of parts of a GPU kept apart by the driver (r615 on)."""

from __future__ import annotations

from typing import Any

import pulumi

from components.addons.base import Addon
from components.addons.inputs import AddonInputs
from components.charts import ChartSource

NAME = "gpu-fractioning"
_IMAGES = ("operator", "fractiond", "metricsd", "mpsd")


def values(inputs: AddonInputs) -> dict[str, Any]:
    """Helm values. The versions of driver and GPU stack stay checked by the operator itself."""
    images = {}
    for name in _IMAGES:
        repository, tag = inputs.repository_and_tag(name)
        images[name] = {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}
    monitoring = inputs.settings.monitoring
    return {
        "images": images,
        "imagePullSecrets": inputs.pull_secrets(),
        "runtimeClassName": inputs.settings.runtime_class(),
        "supportSmSharing": inputs.settings.fractioning.sm_sharing,
        "skipGpuStackVersionChecks": False,
        "metricsAgent": {"enabled": True},
        "prometheus": {"enabled": monitoring.enabled, "interval": monitoring.scrape_interval},
    }


class Fractioning(Addon):
    """The operator; its daemons come up on nodes that have a GPU."""

    def __init__(
        self, inputs: AddonInputs, source: ChartSource, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(NAME, inputs, source, opts)
        self.release(values(inputs), [])
        self.register_outputs({})
