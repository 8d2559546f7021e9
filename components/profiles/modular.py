"""Profile `modular`: KAI Scheduler with queues for departments and projects, without a control plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pulumi

from components.addons.resource_management import ResourceManagement
from components.capacity import by_pool, given
from components.catalog import Catalog
from components.cluster import NodeFacts
from components.kai.gate import KaiGate
from components.kai.inputs import NAME, QUEUE_LABEL, RESERVATION
from components.kai.settings import kai_inputs
from components.labels import SCHEDULED
from components.queues import Queues
from components.scheduler import Scheduler, fingerprint
from components.settings import Settings
from components.shares import ResolvedQueues, resolve_all

if TYPE_CHECKING:
    from components.platform import Platform


class Modular:
    """Scheduler → queues → the projects' namespaces."""

    def __init__(self, platform: Platform) -> None:
        self._on = platform

    def declare(self) -> None:
        """Declare scheduler and queues; the projects' namespaces come after these and all else."""
        on = self._on
        managed = "resourceManagement" in on.parts
        scheduler: Scheduler | ResourceManagement = (
            on.addons.resource_management(on.ground()) if managed else self._scheduler()
        )
        on.addons.after(on.after(scheduler))
        self.capacity = self._capacity()
        self.queues = pulumi.Output.all(self.capacity, scheduler.ready).apply(
            lambda known: self._resolve(known[0])
        )
        quotas = self.queues.apply(lambda resolved: resolved.quotas)
        org: list[pulumi.Resource]
        if isinstance(scheduler, ResourceManagement):
            org = scheduler.org(quotas)
        else:
            key = on.settings.node_pools.label_key
            org = [Queues("queues", on.settings.departments, quotas, key, on.after(scheduler))]
        on.namespaces.projects([*org, *on.front()])

    def outputs(self) -> dict[str, pulumi.Input[Any]]:
        """What the inventory reads about scheduler, capacity and queues."""
        scheduler = self._on.settings.scheduler
        return {
            "driver": "kai",
            "schedulerName": NAME,
            "queueLabelKey": QUEUE_LABEL,
            "reservationNamespace": RESERVATION,
            "gpuSharing": self._on.settings.fractions(),
            "sharing": self._on.settings.sharing,
            "placement": {"gpu": scheduler.placement.gpu, "cpu": scheduler.placement.cpu},
            "capacityGpus": self.capacity.apply(lambda pools: sum(pools.values())),
            "departments": self.queues.apply(self._departments),
            "projects": self.queues.apply(self._projects),
            "projectNamespaceLabels": dict(SCHEDULED),
        }

    def _scheduler(self) -> Scheduler:
        on = self._on
        key = on.parts["scheduler"]
        # KAI's operator looks for fake GPU nodes when it reconciles, and is not told when they appear.
        seen: pulumi.Input[str] = (
            ""
            if on.gpu_nodes is None
            else on.gpu_nodes.apply(lambda known: fingerprint(sorted(n.name for n in known if n.installed)))
        )
        return Scheduler(
            "scheduler",
            kai_inputs(on.settings, on.catalog, on.facts, key, on.pull_secret),
            on.catalog.parts[key],
            on.source,
            on.settings.node_pools,
            KaiGate(on.cluster),
            seen,
            on.ground(),
        )

    def _capacity(self) -> pulumi.Output[Mapping[str, int]]:
        on = self._on
        if on.settings.capacity.source == "setting":
            return pulumi.Output.from_input(given(on.settings))
        known: pulumi.Output[Sequence[NodeFacts]] = (
            on.gpu_nodes if on.gpu_nodes is not None else pulumi.Output.from_input(list(on.facts.nodes))
        )
        return known.apply(lambda found: by_pool(found, on.settings.node_pools))

    def _resolve(self, capacity: Mapping[str, int]) -> ResolvedQueues:
        resolved = resolve_all(self._on.settings, capacity)
        for warning in resolved.warnings:
            pulumi.log.warn(warning, self._on)
        return resolved

    def _departments(self, resolved: ResolvedQueues) -> list[dict[str, Any]]:
        return [
            {"name": item.name, "queue": item.name, "gpu": resolved.quotas[item.name].output()}
            for item in self._on.settings.departments
        ]

    def _projects(self, resolved: ResolvedQueues) -> list[dict[str, Any]]:
        prefix = self._on.catalog.project_namespace.prefix
        return [
            {
                "name": project.name,
                "department": department.name,
                "namespace": f"{prefix}{project.name}",
                "queue": project.name,
                "gpu": resolved.quotas[project.name].output(),
            }
            for department, project in self._on.settings.projects()
        ]


def modular_parts(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """Role → catalog key of what only this profile installs; KRM's chart brings the scheduler inside."""
    if settings.resource_management.enabled:
        return {}
    return {"scheduler": catalog.generations("kai-scheduler")[settings.scheduler.version]}
