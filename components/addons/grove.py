"""Grove by its chart, with KAI as the scheduler of its gangs."""

from __future__ import annotations

from typing import Any

import pulumi

from components.addons.base import Addon
from components.addons.inputs import RESTRICTED_POD, AddonInputs
from components.charts import ChartSource
from components.kai.inputs import NAME as SCHEDULER
from components.kai.inputs import RESTRICTED_CONTEXT

NAME = "grove"


def values(inputs: AddonInputs) -> dict[str, Any]:
    """Helm values. The pull secrets are the operator's; pods that it makes have their workload's."""
    repository, tag = inputs.repository_and_tag("operator")
    crds, crds_tag = inputs.repository_and_tag("install-crds")
    # The operator names its helper's image itself and adds its own tag.
    helper, _ = inputs.repository_and_tag("initc")
    return {
        "replicaCount": 1,
        "image": {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"},
        "imagePullSecrets": inputs.pull_secrets(),
        "podSecurityContext": RESTRICTED_POD,
        "securityContext": RESTRICTED_CONTEXT,
        "config": {
            # Without this Grove's pods would go to the default scheduler, which knows no gangs.
            "scheduler": {"defaultProfileName": SCHEDULER, "profiles": [{"name": SCHEDULER}]},
            "server": {"webhooks": {"certProvisionMode": "auto"}},
        },
        "deployment": {"env": [{"name": "GROVE_INIT_CONTAINER_IMAGE", "value": helper}]},
        "crdInstaller": {
            "enabled": True,
            "image": {"repository": crds, "tag": crds_tag, "pullPolicy": "IfNotPresent"},
        },
    }


class Grove(Addon):
    """The operator; its webhooks' certificate is its own business."""

    def __init__(
        self, inputs: AddonInputs, source: ChartSource, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(NAME, inputs, source, opts)
        self.release(values(inputs), [])
        self.register_outputs({})
