"""Inference: Knative Serving with Kourier, by a release's own objects or by the Knative Operator."""

from __future__ import annotations

from pathlib import Path

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.helm.v3 import Release

from components.catalog import Part
from components.charts import ChartSource
from components.knative import bundle as upstream
from components.knative import operator
from components.knative.accounts import accounts
from components.knative.gate import KnativeGate
from components.knative.inputs import NAMESPACE, KnativeInputs
from components.labels import metadata
from components.objects import Object, declare


class Inference(pulumi.ComponentResource):
    """Knative, ready to take Services. Children do what `install` says; `ready` resolves after them."""

    ready: pulumi.Output[bool]

    def __init__(self, name: str, gate: KnativeGate, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("runai-kit:components:Inference", name, None, opts)
        self._gate = gate

    def bundle(self, serving: Path, kourier: Path, knative: KnativeInputs) -> None:
        """CRDs, then everything they need, the Deployments, and last what asks the Deployments.

        A destroy takes them away in reverse: no webhook is left that nobody answers. CRDs stay, with
        other people's objects.
        """
        objects = upstream.fit(upstream.read(serving), upstream.read(kourier), knative)
        crds = self._declare(objects.crds, [], keep=True)
        ground = self._declare(objects.ground, crds)
        deployments = self._declare(objects.deployments, ground)
        last = self._declare(objects.last, deployments)
        self._wait([*crds, *ground, *deployments, *last])

    def operator(self, part: Part, source: ChartSource, knative: KnativeInputs, mirror: str) -> None:
        """The operator's chart, and the KnativeServing that it is told to make true."""
        pulled = accounts(part, knative.pull_secret, self)
        release = Release(
            part.name,
            name=part.name,
            namespace=part.namespace(),
            values=operator.values(part, mirror),
            timeout=300,
            **source.arguments(part),
            opts=pulumi.ResourceOptions(parent=self, depends_on=pulled),
        )
        serving = CustomResource(
            NAMESPACE,
            api_version="operator.knative.dev/v1beta1",
            kind="KnativeServing",
            metadata=metadata(
                NAMESPACE,
                NAMESPACE,
                annotations={"pulumi.com/waitFor": operator.READY, "pulumi.com/timeoutSeconds": "600"},
            ),
            spec=operator.knative_serving(knative, part, mirror),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[release]),
        )
        self._wait([release, serving])

    def _declare(
        self, objects: list[Object], after: list[pulumi.Resource], keep: bool = False
    ) -> list[pulumi.Resource]:
        options = pulumi.ResourceOptions(parent=self, depends_on=after, retain_on_delete=keep)
        return [declare(obj, options) for obj in objects]

    def _wait(self, resources: list[pulumi.Resource]) -> None:
        made = [resource.id for resource in resources if isinstance(resource, pulumi.CustomResource)]
        self.ready = pulumi.Output.all(*made).apply(
            lambda _: self._gate.ready(preview=pulumi.runtime.is_dry_run())
        )
        self.register_outputs({})
