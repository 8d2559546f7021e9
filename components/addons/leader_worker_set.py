"""LeaderWorkerSet by its chart."""

from __future__ import annotations

from typing import Any

import pulumi

from components.addons.base import Addon
from components.addons.inputs import RESTRICTED_CONTAINER, RESTRICTED_POD, AddonInputs
from components.charts import ChartSource

NAME = "lws"


def values(inputs: AddonInputs) -> dict[str, Any]:
    """Helm values; the chart leaves out the seccomp profile that `restricted` asks for."""
    repository, tag = inputs.repository_and_tag("manager")
    return {
        "image": {"manager": {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}},
        "imagePullSecrets": inputs.pull_secrets(),
        "enableCertManager": False,
        "enablePrometheus": False,
        "podSecurityContext": RESTRICTED_POD,
        "securityContext": RESTRICTED_CONTAINER | {"readOnlyRootFilesystem": True},
    }


class LeaderWorkerSet(Addon):
    """The controller and its CRDs; it makes its webhooks' certificate itself."""

    def __init__(
        self, inputs: AddonInputs, source: ChartSource, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(NAME, inputs, source, opts)
        self.release(values(inputs), [])
        self.register_outputs({})
