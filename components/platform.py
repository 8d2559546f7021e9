"""The whole installation: the ground of every profile, what a profile puts on it, and the stack's outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pulumi
from pulumi_kubernetes import KubeClientSettingsArgs, Provider

from components.addons import Addons
from components.capacity import FakeGpuGate, expected_gpus
from components.catalog import Catalog
from components.charts import ChartSource
from components.cluster import Cluster, ClusterFacts, NodeFacts
from components.config.model import Settings
from components.connect import ClusterError
from components.controls import Controls, control_inputs
from components.fake_gpus import FakeGpus
from components.front import Front, certificates_for, ingress_service
from components.ingress_classes import refuse_second_default
from components.kai.inputs import RESERVATION
from components.knative.gate import refuse_foreign
from components.monitoring import Monitoring, MonitoringInputs
from components.namespaces import PULL_SECRET, Namespaces, wanted_namespaces
from components.outputs import describe
from components.owners import refuse_second_scheduler
from components.profiles import parts, profile_of
from components.prometheus.owners import refuse_second_operator
from components.prometheus.plan import Plan
from components.unfinished import refuse_unfinished
from components.vks.outputs import package_parts
from components.vks.owners import plan as plan_packages
from components.vks.packages import VksPackages


class Platform(pulumi.ComponentResource):
    """Namespaces → fake GPUs → the profile's parts; monitoring is beside them.

    What cannot work is refused here, before the first resource: see `parts`, `_check_nodes`, `refuse_foreign`
    and `refuse_unfinished`. The profile (components/profiles) declares the rest and says when Knative and the
    ingress (`front`) and the projects' namespaces come.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        catalog: Catalog,
        cluster: Cluster,
        facts: ClusterFacts,
        root: Path,
    ) -> None:
        self.settings, self.catalog, self.cluster, self.facts, self.root = (
            settings,
            catalog,
            cluster,
            facts,
            root,
        )
        # Which VKS packages are this stack's own depends on what the cluster has.
        self.packages = plan_packages(cluster, settings)
        self.parts = parts(settings, catalog) | package_parts(settings, catalog, self.packages)
        self.monitored = Plan(settings, catalog, self.parts)
        self.expected = self._check_nodes()
        if settings.knative.enabled:
            refuse_foreign(cluster)
        refuse_second_default(cluster, settings.ingress)
        refuse_unfinished(cluster, [catalog.parts[key] for key in self.parts.values()], pulumi.get_stack())
        refuse_second_scheduler(cluster, settings)
        refuse_second_operator(cluster, settings.monitoring, self.monitored.namespace)
        self.certificates = certificates_for(settings, cluster, root)
        # What a client has to trust, and where it finds the ingress.
        self.ca = self.certificates.ca
        self.ingress_service = ingress_service(settings)
        self.wanted = wanted_namespaces(settings, catalog, list(self.parts.values()))
        self.profile = profile_of(self)
        super().__init__("runai-kit:components:Platform", name)
        self.pull_secret = PULL_SECRET if settings.registry.username else ""
        self.source = ChartSource(settings.charts)
        provider = self._declare_provider()
        self._child = pulumi.ResourceOptions(parent=self, providers={"kubernetes": provider})
        self.namespaces = Namespaces(
            "namespaces", self.wanted, facts.namespaces, settings.registry, self._child
        )
        self.gpu_nodes = self._fake_gpus() if settings.fake_gpus.enabled else None
        if settings.monitoring.enabled:
            self._monitoring()
        # Operators that the profile's first part waits for, besides the namespaces.
        self.addons = Addons(self)
        self.operators = self.addons.before(self.after(*self.namespaces.before))
        if self.packages.install:
            VksPackages("vks-packages", settings, self.packages, self.ground())
        self.profile.declare()
        Controls("controls", control_inputs(self), self.after(self.namespaces))
        self.register_outputs({})

    def after(self, *resources: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of a child that waits for these resources."""
        return pulumi.ResourceOptions.merge(self._child, pulumi.ResourceOptions(depends_on=list(resources)))

    def ground(self) -> pulumi.ResourceOptions:
        """Options of a profile's first part: it waits for the parts' namespaces and the operators."""
        return self.after(*self.namespaces.before, *self.operators)

    def front(self) -> list[pulumi.Resource]:
        """Declare Knative, the ingress and their certificates; returns the components."""
        front = Front(
            self.settings,
            self.catalog,
            self.cluster,
            self.root,
            self.parts,
            self.pull_secret,
            self.certificates,
        )
        return front.declare(self.after(*self.namespaces.before))

    def _check_nodes(self) -> dict[str, int]:
        """GPUs expected per node. Raises ClusterError when fake GPUs would find no node."""
        fake = self.settings.fake_gpus
        if not fake.enabled:
            return dict(self.settings.expected_gpus)
        expected = expected_gpus(fake, self.facts.nodes)
        if not expected:
            raise ClusterError(
                "context",
                f"no node with {dict(fake.node_selector)}",
                "a node that runai-kit:fakeGpus.nodeSelector selects",
                "label the nodes that pretend to have GPUs",
            )
        return expected

    def _declare_provider(self) -> Provider:
        cluster = self.settings.cluster
        return Provider(
            "cluster",
            kubeconfig=cluster.kubeconfig or None,
            context=cluster.context,
            # The cluster's identity: a renewed kubeconfig must not replace every resource.
            cluster_identifier=cluster.context,
            enable_server_side_apply=True,
            delete_unreachable=False,
            kube_client_settings=KubeClientSettingsArgs(qps=100, burst=200),
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _fake_gpus(self) -> pulumi.Output[Sequence[NodeFacts]]:
        part = self.catalog.parts["fake-gpu"]
        gpus = FakeGpus(
            "fake-gpus",
            self.settings.fake_gpus,
            part,
            part.image("fake-gpu", self.settings.registry.prefix),
            RESERVATION,
            self.after(*self.namespaces.before),
        )
        gate = FakeGpuGate(self.cluster)
        return gpus.ready.apply(lambda _: gate.nodes(self.expected, pulumi.runtime.is_dry_run()))

    def _monitoring(self) -> None:
        inputs = MonitoringInputs(
            self.monitored,
            self.source,
            self.root,
            self.settings.registry.prefix,
            self.pull_secret,
        )
        Monitoring("monitoring", inputs, self.after(*self.namespaces.before))

    def outputs(self, environment: str) -> dict[str, pulumi.Input[object]]:
        """The stack's outputs, which the inventory reads."""
        return describe(self, environment)
