"""Ingress: HAProxy in front of Kourier and of workspaces, or objects for somebody else's controller."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import ConfigMap, Service
from pulumi_kubernetes.helm.v3 import Release
from pulumi_kubernetes.networking.v1 import Ingress as IngressObject

from components.catalog import Part
from components.charts import ChartSource
from components.config.sections import Registry
from components.config.serving import Ingress as IngressSettings
from components.haproxy import controller, rendered
from components.haproxy import objects as own
from components.haproxy.inputs import NAMESPACE, SERVICE, Routes
from components.labels import metadata
from components.scheduler import fingerprint
from components.serving import INFERENCE_SECRET, SERVING_NAMESPACE, WORKSPACES_SECRET
from components.tls.material import Certificates


@dataclass(frozen=True)
class IngressInputs:
    """Settings with what they refer to."""

    settings: IngressSettings
    routes: Routes
    certificates: Certificates
    registry: Registry
    pull_secret: str


def places(settings: IngressSettings, inference: bool) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Use of a certificate → its Secret's name and namespaces, first the one it is read back from."""
    home = SERVING_NAMESPACE if settings.source == "existing" else NAMESPACE
    found: dict[str, tuple[str, tuple[str, ...]]] = {"workspaces": (WORKSPACES_SECRET, (home,))}
    if inference:
        both = (SERVING_NAMESPACE, *((NAMESPACE,) if settings.source == "rendered" else ()))
        found["inference"] = (INFERENCE_SECRET, both)
    return found


class Ingress(pulumi.ComponentResource):
    """What answers from outside. Children do what `rendered`, `controller` or `existing` says."""

    def __init__(self, name: str, inputs: IngressInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("runai-kit:components:Ingress", name, None, opts)
        self._inputs = inputs
        self._child = pulumi.ResourceOptions(parent=self)

    def rendered(self, part: Part) -> None:
        """HAProxy with our own configuration, a Service for outside and one for Prometheus."""
        inputs = self._inputs
        text = rendered.render(inputs.routes)
        config = ConfigMap(
            own.CONFIG,
            metadata=metadata(own.CONFIG, NAMESPACE),
            data={"haproxy.cfg": text},
            opts=self._child,
        )
        chains = {use: pair.chain for use, pair in sorted(inputs.certificates.pairs.items())}
        names = {use: INFERENCE_SECRET if use == "inference" else WORKSPACES_SECRET for use in chains}
        spec = own.deployment_spec(
            part.image("haproxy", inputs.registry.prefix),
            inputs.settings.replicas,
            inputs.routes.wait_seconds,
            names,
            fingerprint([text, chains]),
            inputs.pull_secret,
        )
        Deployment(
            SERVICE,
            metadata=metadata(SERVICE, NAMESPACE, own.APP, {"pulumi.com/timeoutSeconds": "180"}),
            spec=spec,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[config]),
        )
        outside, metrics = own.service_spec(inputs.settings.https_port), own.metrics_spec()
        for name, ports in ((SERVICE, outside), (f"{SERVICE}-metrics", metrics)):
            Service(
                name,
                # Its pods are the Deployment's business.
                metadata=metadata(name, NAMESPACE, own.APP, {"pulumi.com/skipAwait": "true"}),
                spec=ports,
                opts=self._child,
            )
        self.register_outputs({})

    def controller(self, part: Part, source: ChartSource) -> None:
        """HAProxy's ingress controller by its chart, and the Ingress objects."""
        inputs = self._inputs
        release = Release(
            part.name,
            name=SERVICE,
            namespace=NAMESPACE,
            values=controller.values(
                inputs.settings, part, inputs.registry, inputs.routes, inputs.pull_secret
            ),
            timeout=300,
            **source.arguments(part),
            opts=self._child,
        )
        self._objects(NAMESPACE, [release])

    def existing(self) -> None:
        """Only the Ingress objects: the controller is somebody else's."""
        self._objects(SERVING_NAMESPACE, [])

    def _objects(self, home: str, after: list[pulumi.Resource]) -> None:
        inputs = self._inputs
        specs = {
            ("runai-cluster-domain-star-ingress", home): controller.workspaces_ingress(
                inputs.settings, inputs.routes, WORKSPACES_SECRET
            )
        }
        if inputs.routes.inference:
            specs["inference", SERVING_NAMESPACE] = controller.inference_ingress(
                inputs.settings, inputs.routes, INFERENCE_SECRET
            )
        for (name, namespace), spec in specs.items():
            IngressObject(
                name,
                # A controller need not write an address into the status of an Ingress.
                metadata=metadata(name, namespace, annotations={"pulumi.com/skipAwait": "true"}),
                spec=spec,
                opts=pulumi.ResourceOptions(parent=self, depends_on=after),
            )
        self.register_outputs({})
