"""What answers requests: certificates, Knative and the ingress, each after what it needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pulumi

from components.catalog import Catalog
from components.certificates import CertificateSecrets
from components.charts import ChartSource
from components.cluster import Cluster
from components.config.front import domains
from components.config.model import Settings
from components.haproxy.inputs import NAMESPACE, SERVICE, routes
from components.inference import Inference
from components.ingress import Ingress, IngressInputs, places
from components.knative.gate import KnativeGate
from components.knative.inputs import knative_inputs
from components.tls import generate, given
from components.tls.material import Certificates


@dataclass(frozen=True)
class Front:
    """Everything that the three parts are declared from; `root` is the project."""

    settings: Settings
    catalog: Catalog
    cluster: Cluster
    root: Path
    parts: dict[str, str]
    pull_secret: str
    certificates: Certificates

    def declare(self, opts: pulumi.ResourceOptions) -> list[pulumi.Resource]:
        """All that the settings ask for; returns the components, of which the others may be made."""
        made: list[pulumi.Resource] = []
        if self.settings.ingress.enabled:
            made.append(self._certificates(opts))
            made.append(self._ingress(pulumi.ResourceOptions.merge(opts, _after(made))))
        if self.settings.knative.enabled:
            made.append(self._inference(opts))
        return made

    def _certificates(self, opts: pulumi.ResourceOptions) -> CertificateSecrets:
        where = places(self.settings.ingress, self.settings.knative.enabled)
        return CertificateSecrets("certificates", self.certificates, where, opts)

    def _inference(self, opts: pulumi.ResourceOptions) -> Inference:
        settings, source = self.settings, ChartSource(self.settings.charts)
        inputs = knative_inputs(settings, self.catalog, self.pull_secret)
        inference = Inference("inference", KnativeGate(self.cluster), opts)
        if settings.knative.source == "operator":
            part = self.catalog.parts[self.parts["knativeOperator"]]
            inference.operator(part, source, inputs, settings.registry.prefix)
        else:
            files = [self.root / source.arguments(part)["chart"] for part in (inputs.serving, inputs.kourier)]
            inference.bundle(files[0], files[1], inputs)
        return inference

    def _ingress(self, opts: pulumi.ResourceOptions) -> Ingress:
        settings = self.settings
        inputs = IngressInputs(
            settings.ingress,
            routes(settings, self.catalog),
            self.certificates,
            settings.registry,
            self.pull_secret,
        )
        ingress = Ingress("ingress", inputs, opts)
        if settings.ingress.source == "existing":
            ingress.existing()
        elif settings.ingress.source == "controller":
            ingress.controller(self.catalog.parts[self.parts["ingress"]], ChartSource(settings.charts))
        else:
            ingress.rendered(self.catalog.parts[self.parts["ingress"]])
        return ingress


def front_parts(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """Role → catalog key of what these parts install."""
    chosen: dict[str, str] = {}
    if settings.knative.enabled:
        if settings.knative.source == "operator":
            chosen["knativeOperator"] = "knative-operator"
        chosen["knative"] = catalog.generations("knative-serving")[settings.knative.version]
        chosen |= {"kourier": "net-kourier", "envoy": "envoy"}
    if settings.ingress.enabled and settings.ingress.source != "existing":
        chosen["ingress"] = "haproxy" if settings.ingress.source == "rendered" else "haproxy-ingress"
    return chosen


def certificates_for(settings: Settings, cluster: Cluster, root: Path) -> Certificates:
    """The certificates of both domains; generated ones are those of the cluster while they are good."""
    needed = domains(settings)
    if settings.tls.source == "files" or not needed:
        return given.certificates(settings.tls, needed, root)
    where = places(settings.ingress, settings.knative.enabled)
    return generate.certificates(
        settings.tls, needed, lambda use: cluster.secret(where[use][1][0], where[use][0])
    )


def ingress_service(settings: Settings) -> tuple[str, str]:
    """Namespace and name of the Service that answers from outside, empty without one."""
    ingress = settings.ingress
    if not ingress.enabled:
        return "", ""
    return (ingress.namespace, ingress.service) if ingress.source == "existing" else (NAMESPACE, SERVICE)


def _after(resources: list[pulumi.Resource]) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(depends_on=list(resources))
