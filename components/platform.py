"""The whole installation: which parts, in which order, and what the stack says about itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pulumi
from pulumi_kubernetes import KubeClientSettingsArgs, Provider

from components.capacity import FakeGpuGate, by_pool, expected_gpus, given
from components.catalog import Catalog
from components.charts import ChartSource
from components.cluster import Cluster, ClusterFacts, NodeFacts
from components.connect import ClusterError
from components.fake_gpus import FakeGpus
from components.front import Front, certificates_for, front_parts, ingress_service
from components.kai.gate import KaiGate
from components.kai.inputs import RESERVATION
from components.kai.settings import kai_inputs
from components.knative.gate import refuse_foreign
from components.monitoring import Monitoring, MonitoringInputs
from components.namespaces import PULL_SECRET, Namespaces, wanted_namespaces
from components.outputs import describe
from components.prometheus.plan import Plan
from components.queues import Queues
from components.scheduler import Scheduler, fingerprint
from components.settings import Settings
from components.shares import ResolvedQueues, resolve_all


class Platform(pulumi.ComponentResource):
    """Namespaces → fake GPUs → scheduler → queues → the projects' namespaces.

    Monitoring, Knative and the ingress are beside the scheduler. What cannot work is refused here, before
    the first resource: see `parts`, `_check_nodes` and `refuse_foreign`.
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
        self.parts = parts(settings, catalog)
        self.monitored = Plan(settings, catalog, self.parts)
        self.expected = self._check_nodes()
        if settings.knative.enabled:
            refuse_foreign(cluster)
        certificates = certificates_for(settings, cluster, root)
        # What a client has to trust, and where it finds the ingress.
        self.ca = certificates.ca
        self.ingress_service = ingress_service(settings)
        self.wanted = wanted_namespaces(settings, catalog, list(self.parts.values()))
        super().__init__("runai-kit:components:Platform", name)
        self._pull_secret = PULL_SECRET if settings.registry.username else ""
        self._source = ChartSource(settings.charts)
        provider = self._declare_provider()
        self._child = pulumi.ResourceOptions(parent=self, providers={"kubernetes": provider})
        self.namespaces = Namespaces(
            "namespaces", self.wanted, facts.namespaces, settings.registry, self._child
        )
        nodes = self._fake_gpus() if settings.fake_gpus.enabled else None
        if settings.monitoring.enabled:
            self._monitoring()
        scheduler = self._scheduler(nodes)
        self.capacity = self._capacity(nodes)
        self.queues = pulumi.Output.all(self.capacity, scheduler.ready).apply(
            lambda known: self._resolve(known[0])
        )
        queues = Queues(
            "queues",
            settings.departments,
            self.queues.apply(lambda resolved: resolved.quotas),
            settings.node_pools.label_key,
            self._after(scheduler),
        )
        front = Front(settings, catalog, cluster, root, self.parts, self._pull_secret, certificates)
        self.namespaces.projects([queues, *front.declare(self._after(*self.namespaces.before))])
        self.register_outputs({})

    def _after(self, *resources: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(self._child, pulumi.ResourceOptions(depends_on=list(resources)))

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
            self._after(*self.namespaces.before),
        )
        gate = FakeGpuGate(self.cluster)
        return gpus.ready.apply(lambda _: gate.nodes(self.expected, pulumi.runtime.is_dry_run()))

    def _monitoring(self) -> None:
        inputs = MonitoringInputs(
            self.monitored,
            self._source,
            self.root,
            self.settings.registry.prefix,
            self._pull_secret,
        )
        Monitoring("monitoring", inputs, self._after(*self.namespaces.before))

    def _scheduler(self, nodes: pulumi.Output[Sequence[NodeFacts]] | None) -> Scheduler:
        key = self.parts["scheduler"]
        # KAI's operator looks for fake GPU nodes when it reconciles, and is not told when they appear.
        seen: pulumi.Input[str] = (
            ""
            if nodes is None
            else nodes.apply(lambda known: fingerprint(sorted(n.name for n in known if n.installed)))
        )
        return Scheduler(
            "scheduler",
            kai_inputs(self.settings, self.catalog, self.facts, key, self._pull_secret),
            self.catalog.parts[key],
            self._source,
            self.settings.node_pools,
            KaiGate(self.cluster),
            seen,
            self._after(*self.namespaces.before),
        )

    def _capacity(self, nodes: pulumi.Output[Sequence[NodeFacts]] | None) -> pulumi.Output[Mapping[str, int]]:
        if self.settings.capacity.source == "setting":
            return pulumi.Output.from_input(given(self.settings))
        known = nodes if nodes is not None else pulumi.Output.from_input(list(self.facts.nodes))
        return known.apply(lambda found: by_pool(found, self.settings.node_pools))

    def _resolve(self, capacity: Mapping[str, int]) -> ResolvedQueues:
        resolved = resolve_all(self.settings, capacity)
        for warning in resolved.warnings:
            pulumi.log.warn(warning, self)
        return resolved

    def outputs(self, environment: str) -> dict[str, pulumi.Input[object]]:
        """The stack's outputs, which the inventory reads."""
        return describe(self, environment)


def parts(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """Role → catalog key of every part that this stack installs."""
    chosen = {"scheduler": catalog.generations("kai-scheduler")[settings.scheduler.version]}
    if settings.monitoring.enabled and settings.monitoring.source == "bundle":
        chosen |= {"monitoring": "prometheus-operator", "prometheus": "prometheus"}
        chosen["stateMetrics"] = "kube-state-metrics"
    elif settings.monitoring.enabled:
        chosen["monitoring"] = "kube-prometheus-stack"
    if settings.fake_gpus.enabled:
        chosen["fakeGpus"] = "fake-gpu"
    return chosen | front_parts(settings, catalog)
