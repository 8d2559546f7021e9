"""Run:ai on this cluster: registered over REST, installed as release `runai-cluster`, connected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import Secret
from pulumi_kubernetes.helm.v3 import Release
from pulumi_kubernetes.networking.v1 import Ingress

from components import ngc
from components.catalog import Part
from components.charts import ChartSource
from components.config.full import ClusterAgents as AgentsSettings
from components.full import secrets, values
from components.full.gates import ApiGate
from components.labels import metadata
from components.remote import Registration
from components.runai.client import Json
from components.serving import WORKSPACES_SECRET
from components.tls.material import Pair

RELEASE = "runai-cluster"
_STAR = "runai-cluster-domain-star-ingress"
_SECONDS = 1200


@dataclass(frozen=True)
class AgentsInputs:
    """Settings with what they refer to; `workspaces` is for every name below `domain`, None without such.

    `version` is the control plane's: agents must not be of another.
    """

    settings: AgentsSettings
    version: str
    domain: str
    certificate: Pair
    workspaces: Pair | None
    around: values.Around


class ClusterAgents(pulumi.ComponentResource):
    """The registration, the release, and `connected`: the cluster's uuid once its agents have reported."""

    connected: pulumi.Output[str]
    tenant: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        inputs: AgentsInputs,
        at: pulumi.Output[Json],
        part: Part,
        source: ChartSource,
        gate: ApiGate,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("runai-kit:components:ClusterAgents", name, None, opts)
        self._child = pulumi.ResourceOptions(parent=self)
        self._namespace = part.namespace()
        address = f"https://{inputs.domain}"
        wanted: dict[str, pulumi.Input[Any]] = {
            "name": inputs.settings.name,
            "domain": address,
            "version": inputs.version,
        }
        registration = Registration("registration", at, wanted, self._child)
        self.tenant = registration.tenantId.apply(str)
        release = Release(
            RELEASE,
            name=RELEASE,
            namespace=self._namespace,
            values=values.cluster(
                inputs.settings,
                at.apply(lambda place: str(place["url"])),
                registration.uuid,
                address,
                secrets.CLUSTER_TLS,
                inputs.around,
            ),
            timeout=_SECONDS,
            # Otherwise the provider leaves out empty lists, and the chart's own would count.
            allow_null_values=True,
            **ngc.arguments(source, part, inputs.around.ngc),
            opts=pulumi.ResourceOptions(parent=self, depends_on=self._before(inputs, registration)),
        )
        preview = pulumi.runtime.is_dry_run()
        self.connected = pulumi.Output.all(at, registration.uuid, release.status).apply(
            lambda known: known[1] if preview else gate.connected(known[0], known[1])
        )
        self.register_outputs({})

    def _before(self, inputs: AgentsInputs, registration: Registration) -> list[pulumi.Resource]:
        """Secrets that the chart refers to, and the TLS end of workspaces."""
        made: list[pulumi.Resource] = [
            Secret(
                values.CLIENT_SECRET,
                metadata=metadata(values.CLIENT_SECRET, self._namespace),
                string_data={values.CLIENT_KEY: registration.clientSecret},
                opts=self._child,
            ),
            secrets.tls_secret(secrets.CLUSTER_TLS, self._namespace, inputs.certificate, self._child),
        ]
        if inputs.workspaces is not None:
            made.append(
                secrets.tls_secret(WORKSPACES_SECRET, self._namespace, inputs.workspaces, self._child)
            )
            made.append(self._star(inputs))
        if inputs.around.ca:
            made.append(secrets.ca_secret(self._namespace, inputs.around.ca, self._child, everywhere=True))
        if inputs.around.ngc.support_entitled:
            made.append(ngc.pull_secret(self._namespace, inputs.around.ngc, self._child))
        return made

    def _star(self, inputs: AgentsInputs) -> Ingress:
        """An Ingress with TLS and no rule to a service: the product adds one per workspace.

        Not waited for: whether it gets an address is up to the controller's class, and nothing here needs it.
        """
        host = f"*.{inputs.domain}"
        return Ingress(
            _STAR,
            metadata=metadata(_STAR, self._namespace, annotations={"pulumi.com/skipAwait": "true"}),
            spec={
                "ingressClassName": inputs.around.ingress_class,
                "rules": [{"host": host}],
                "tls": [{"hosts": [host], "secretName": WORKSPACES_SECRET}],
            },
            opts=self._child,
        )
