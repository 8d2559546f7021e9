"""The settings of a stack, read once and checked completely before any resource is declared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, Field, ValidationError

from components.catalog import Catalog
from components.config import local, source
from components.config.addons import (
    SCHEDULED_PARTS,
    Fractioning,
    GpuOperator,
    Grove,
    LeaderWorkerSet,
    MpiOperator,
    ResourceManagement,
    Sharing,
    TrainingOperator,
    WorkloadMap,
)
from components.config.errors import SettingsError, from_validation
from components.config.org import Department, Project
from components.config.rules import check
from components.config.sections import (
    Capacity,
    Charts,
    Cluster,
    FakeGpus,
    Images,
    Monitoring,
    NodePools,
    Registry,
    Scheduler,
    Validation,
)
from components.config.security import Security
from components.config.serving import Ingress, Knative, Tls
from components.config.types import Domain, Section


class Settings(Section):
    """Everything a stack file may say, below the namespace `runai-kit`."""

    profile: Literal["modular", "full"] = "modular"
    cluster: Cluster
    domain: Domain
    charts: Charts = Charts()
    registry: Registry = Registry()
    images: Images = Images()
    scheduler: Scheduler
    sharing: Sharing = "reservation"
    capacity: Capacity = Capacity()
    node_pools: NodePools = NodePools()
    departments: tuple[Department, ...] = ()
    knative: Knative = Knative()
    ingress: Ingress = Ingress()
    tls: Tls = Tls()
    monitoring: Monitoring = Monitoring()
    gpu_operator: GpuOperator = GpuOperator()
    resource_management: ResourceManagement = ResourceManagement()
    fractioning: Fractioning = Fractioning()
    grove: Grove = Grove()
    workload_map: WorkloadMap = WorkloadMap()
    leader_worker_set: LeaderWorkerSet = LeaderWorkerSet()
    training_operator: TrainingOperator = TrainingOperator()
    mpi_operator: MpiOperator = MpiOperator()
    security: Security = Security()
    fake_gpus: FakeGpus = FakeGpus()
    expected_gpus: dict[str, int] = Field(default_factory=dict)
    validation: Validation = Validation()

    def projects(self) -> list[tuple[Department, Project]]:
        """Every project with its department, in the stack file's order."""
        return [(department, project) for department in self.departments for project in department.projects]

    def fractions(self) -> bool:
        """Whether the scheduler places parts of a GPU."""
        return self.sharing in SCHEDULED_PARTS

    def runtime_class(self) -> str:
        """The RuntimeClass of pods that use a GPU."""
        return self.scheduler.runtime_class if self.profile == "modular" else "nvidia"

    def inference_domain(self) -> str:
        """Below which Knative's Services answer."""
        return self.knative.domain or f"inference.{self.domain}"

    def workspaces_domain(self) -> str:
        """Below which workspaces answer."""
        return self.ingress.workspaces_domain or f"workspaces.{self.domain}"


def load(env: Mapping[str, str], catalog: Catalog, root: Path) -> Settings:
    """Read, type and cross-check the settings; `root` is where relative paths start.

    Raises SettingsError with one line per problem; rules between settings are looked at only when each
    setting by itself is right.
    """
    raw = source.read(env)
    try:
        settings = Settings.model_validate_json(json.dumps(local.renamed(raw.values, env)))
    except ValidationError as error:
        raise from_validation(error, field_names(Settings), raw.secret) from None
    problems = list(check(settings, catalog, root, raw.secret))
    if problems:
        raise SettingsError(problems)
    return settings


def field_names(model: type[BaseModel], place: tuple[str, ...] = ()) -> dict[tuple[str, ...], list[str]]:
    """Place of each section → the keys it knows, for the advice on unknown keys."""
    names = {place: [field.alias or name for name, field in model.model_fields.items()]}
    for name, field in model.model_fields.items():
        for section in _sections(field.annotation):
            names |= field_names(section, (*place, field.alias or name))
    return names


def _sections(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _sections(argument)]
