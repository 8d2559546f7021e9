"""Profile `modular`: KAI Scheduler with queues for departments and projects, without a control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from components.addons.resource_management import ResourceManagement
from components.catalog import Catalog
from components.config.model import Settings
from components.kai.gate import KaiGate
from components.kai.inputs import NAME, QUEUE_LABEL, RESERVATION
from components.kai.settings import kai_inputs
from components.labels import SCHEDULED
from components.profiles import quotas
from components.queues import Queues
from components.scheduler import Scheduler, fingerprint

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
        self.capacity = quotas.capacity(on)
        self.queues = pulumi.Output.all(self.capacity, scheduler.ready).apply(
            lambda known: quotas.resolve(on, known[0])
        )
        resolved = self.queues.apply(lambda known: known.quotas)
        org: list[pulumi.Resource]
        if isinstance(scheduler, ResourceManagement):
            org = scheduler.org(resolved)
        else:
            key = on.settings.node_pools.label_key
            org = [Queues("queues", on.settings.departments, resolved, key, on.after(scheduler))]
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
            "departments": self.queues.apply(lambda known: quotas.departments(self._on, known)),
            "projects": self.queues.apply(lambda known: quotas.projects(self._on, known)),
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


def modular_parts(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """Role → catalog key of what only this profile installs; KRM's chart brings the scheduler inside."""
    if settings.resource_management.enabled:
        return {}
    return {"scheduler": catalog.generations("kai-scheduler")[settings.scheduler.version]}
