"""Run:ai's control plane on this cluster, as Helm release `runai-backend`."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.helm.v3 import Release

from components import ngc
from components.catalog import Part
from components.charts import ChartSource
from components.config.full import ControlPlane as ControlPlaneSettings
from components.full import secrets, values
from components.full.gates import ApiGate
from components.runai.client import Json
from components.tls.material import Pair

RELEASE = "runai-backend"
# It takes up to a quarter of an hour until its pods are ready.
_SECONDS = 1800


@dataclass(frozen=True)
class ControlPlaneInputs:
    """Settings with what they refer to; `certificate` is for `domain`."""

    settings: ControlPlaneSettings
    domain: str
    certificate: Pair
    around: values.Around


class ControlPlane(pulumi.ComponentResource):
    """Secrets, the release, and an API that lets the first user in; `at` is `{url, ca}` from then on."""

    at: pulumi.Output[Json]

    def __init__(
        self,
        name: str,
        inputs: ControlPlaneInputs,
        part: Part,
        source: ChartSource,
        gate: ApiGate,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("runai-kit:components:ControlPlane", name, None, opts)
        self._child = pulumi.ResourceOptions(parent=self)
        release = Release(
            RELEASE,
            name=RELEASE,
            namespace=part.namespace(),
            values=values.control_plane(
                inputs.settings, inputs.domain, secrets.CONTROL_PLANE_TLS, inputs.around
            ),
            timeout=_SECONDS,
            # Otherwise the provider leaves out empty lists, and the chart's own would count.
            allow_null_values=True,
            **ngc.arguments(source, part, inputs.around.ngc),
            opts=pulumi.ResourceOptions(parent=self, depends_on=self._secrets(inputs, part.namespace())),
        )
        at: Json = {"url": f"https://{inputs.domain}", "ca": inputs.around.ca}
        preview = pulumi.runtime.is_dry_run()
        self.at = release.status.apply(lambda _: at if preview else gate.answers(at))
        self.register_outputs({})

    def _secrets(self, inputs: ControlPlaneInputs, namespace: str) -> list[pulumi.Resource]:
        made: list[pulumi.Resource] = [
            secrets.tls_secret(secrets.CONTROL_PLANE_TLS, namespace, inputs.certificate, self._child)
        ]
        if inputs.around.ca:
            made.append(secrets.ca_secret(namespace, inputs.around.ca, self._child))
        if inputs.around.ngc.support_entitled:
            made.append(ngc.pull_secret(namespace, inputs.around.ngc, self._child))
        return made
