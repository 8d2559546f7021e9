"""Which add-ons a stack installs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.catalog import Catalog

if TYPE_CHECKING:
    from components.config.model import Settings

# Role → the part's name in the catalog. In the order of installation.
BEFORE = {
    "gpuOperator": "gpu-operator",
    "leaderWorkerSet": "leader-worker-set",
    "trainingOperator": "training-operator",
    "mpiOperator": "mpi-operator",
}
AFTER = {
    "fractioning": "gpu-fractioning",
    "grove": "grove",
    "workloadMap": "workload-map",
}
RESOURCE_MANAGEMENT = "kai-resource-management"
ROLES = {**BEFORE, "resourceManagement": RESOURCE_MANAGEMENT, **AFTER}


def addon_parts(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """Role → catalog key. Raises KeyError for a version without an entry, which the rules refuse first."""
    return {role: catalog.generations(ROLES[role])[version] for role, version in wanted(settings).items()}


def wanted(settings: Settings) -> dict[str, str]:
    """Role → version of every add-on that the settings ask for.

    With Run:ai's own platform the fractioning operator and resource management come from its charts.
    """
    modular = settings.profile == "modular"
    asked = {
        "gpuOperator": settings.gpu_operator.source == "install",
        "leaderWorkerSet": settings.leader_worker_set.enabled,
        "trainingOperator": settings.training_operator.enabled,
        "mpiOperator": settings.mpi_operator.enabled,
        "resourceManagement": modular and settings.resource_management.enabled,
        "fractioning": modular and settings.sharing == "fractioning",
        "grove": settings.grove.enabled,
        "workloadMap": settings.workload_map.enabled,
    }
    sections = {
        "gpuOperator": settings.gpu_operator.version,
        "leaderWorkerSet": settings.leader_worker_set.version,
        "trainingOperator": settings.training_operator.version,
        "mpiOperator": settings.mpi_operator.version,
        "resourceManagement": settings.resource_management.version,
        "fractioning": settings.fractioning.version,
        "grove": settings.grove.version,
        "workloadMap": settings.workload_map.version,
    }
    return {role: sections[role] for role, yes in asked.items() if yes}


def part_name(role: str) -> str:
    """The catalog's name of a role's part."""
    return ROLES[role]
