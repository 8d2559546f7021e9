"""Controls that the setting `security` asks for: admission policies, network policies, quotas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes.admissionregistration.v1 import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from pulumi_kubernetes.core.v1 import ResourceQuota
from pulumi_kubernetes.networking.v1 import NetworkPolicy

from components.config.security import Security
from components.knative.inputs import NAMESPACE as SERVING
from components.labels import metadata
from components.prometheus.instance import PORT
from components.security import admission, governed, network, quotas
from components.security.governed import Governed
from components.security.network import Neighbours

if TYPE_CHECKING:
    from components.platform import Platform


@dataclass(frozen=True)
class ControlInputs:
    """`relaxed`, `projects`: the namespaces that are ours; `near`: those that they talk with."""

    security: Security
    relaxed: Sequence[Governed]
    projects: Sequence[Governed]
    near: Neighbours


class Controls(pulumi.ComponentResource):
    """Comes after everything that it controls: a destroy takes the controls back first."""

    def __init__(self, name: str, inputs: ControlInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("runai-kit:components:Controls", name, None, opts)
        self._inputs, self._child = inputs, pulumi.ResourceOptions(parent=self)
        if inputs.security.admission:
            self._admission()
        for item in [*inputs.relaxed, *inputs.projects]:
            if inputs.security.network_policies and item.described:
                self._network(item)
            if inputs.security.quotas:
                self._quota(item)
        self.register_outputs({})

    def _admission(self) -> None:
        specs = admission.policies(self._inputs.relaxed, bool(self._inputs.projects))
        for name, spec in specs.items():
            policy = ValidatingAdmissionPolicy(name, metadata=metadata(name), spec=spec, opts=self._child)
            ValidatingAdmissionPolicyBinding(
                name,
                metadata=metadata(name),
                spec=admission.binding(name),
                opts=pulumi.ResourceOptions(parent=self, depends_on=[policy]),
            )

    def _network(self, item: Governed) -> None:
        specs = network.policies(item, self._inputs.near, self._inputs.security)
        # What is needed comes before everything else is closed.
        made: list[pulumi.Resource] = []
        for name in reversed(specs):
            policy = NetworkPolicy(
                f"{item.name}-{name}",
                metadata=metadata(name, item.name),
                spec=specs[name],
                opts=pulumi.ResourceOptions(parent=self, depends_on=list(made)),
            )
            made.append(policy)

    def _quota(self, item: Governed) -> None:
        ResourceQuota(
            f"{item.name}-quota",
            metadata=metadata(quotas.NAME, item.name),
            spec=quotas.quota(self._inputs.security),
            opts=self._child,
        )


def control_inputs(platform: Platform) -> ControlInputs:
    """What a stack's settings ask for; namespaces that somebody else made are left as they are."""
    settings, catalog, foreign = platform.settings, platform.catalog, platform.namespaces.foreign
    near = Neighbours(
        platform.monitored.namespace,
        PORT,
        SERVING if settings.knative.enabled else "",
        platform.ingress_service[0],
    )
    relaxed = governed.relaxed(catalog, platform.parts.values())
    return ControlInputs(
        settings.security,
        [item for item in relaxed if item.name not in foreign],
        [item for item in governed.projects(settings, catalog) if item.name not in foreign],
        near,
    )
