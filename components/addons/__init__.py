"""Parts beside the scheduler, or below Run:ai's platform: GPU Operator, Grove, Kubeflow's operators, …"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pulumi

from components.addons.base import Addon
from components.addons.fractioning import Fractioning
from components.addons.gpu_operator import GpuOperatorAddon
from components.addons.grove import Grove
from components.addons.inputs import AddonInputs
from components.addons.kubeflow import KubeflowOperator
from components.addons.leader_worker_set import LeaderWorkerSet
from components.addons.resource_management import ResourceManagement
from components.addons.workload_map import WorkloadMap
from components.config.addon_parts import AFTER, BEFORE, addon_parts

if TYPE_CHECKING:
    from components.platform import Platform

__all__ = ["Addons", "addon_parts"]

_Make = Callable[[AddonInputs, pulumi.ResourceOptions], Addon]


class Addons:
    """Declares what the plan chose, each group after what its caller says."""

    def __init__(self, platform: Platform) -> None:
        self._on = platform

    def before(self, opts: pulumi.ResourceOptions) -> list[pulumi.Resource]:
        """What the scheduler or Run:ai's agents look for when they start."""
        return self._declare(
            list(BEFORE),
            {
                "gpuOperator": lambda of, o: GpuOperatorAddon(of, self._on.source, self._on.root, o),
                "leaderWorkerSet": lambda of, o: LeaderWorkerSet(of, self._on.source, o),
                "trainingOperator": lambda of, o: KubeflowOperator(of, self._on.source, self._on.root, o),
                "mpiOperator": lambda of, o: KubeflowOperator(of, self._on.source, self._on.root, o),
            },
            opts,
        )

    def resource_management(self, opts: pulumi.ResourceOptions) -> ResourceManagement:
        """KAI with its controllers, in place of KAI alone."""
        on = self._on
        return ResourceManagement(self._inputs("resourceManagement"), on.source, on.facts, opts)

    def after(self, opts: pulumi.ResourceOptions) -> list[pulumi.Resource]:
        """What needs a scheduler."""
        return self._declare(
            list(AFTER),
            {
                "fractioning": lambda of, o: Fractioning(of, self._on.source, o),
                "grove": lambda of, o: Grove(of, self._on.source, o),
                "workloadMap": lambda of, o: WorkloadMap(of, self._on.source, o),
            },
            opts,
        )

    def _declare(
        self, roles: list[str], make: dict[str, _Make], opts: pulumi.ResourceOptions
    ) -> list[pulumi.Resource]:
        return [make[role](self._inputs(role), opts) for role in roles if role in self._on.parts]

    def _inputs(self, role: str) -> AddonInputs:
        on = self._on
        return AddonInputs(on.settings, on.catalog, on.parts[role], on.pull_secret)
