"""Departments and projects with their GPU quotas."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.config.types import UNLIMITED, DnsLabel, GpuAmount, Gpus, ProjectName, Section


class GpuQuota(Section):
    """What a queue may use: `deserved` is guaranteed, up to `limit` may be borrowed by weight."""

    deserved: Gpus = GpuAmount(devices=0.0)
    limit: Gpus = GpuAmount(devices=UNLIMITED)
    over_quota_weight: Annotated[float, Field(ge=0)] = 1.0


class Project(Section):
    """A team's own queue and namespace `runai-<name>`."""

    name: ProjectName
    gpu: GpuQuota = GpuQuota()


class Department(Section):
    """A queue above projects; `nodePool` ties it to one node pool, empty means nodes of no pool."""

    name: DnsLabel
    gpu: GpuQuota = GpuQuota()
    node_pool: str = ""
    projects: tuple[Project, ...] = ()
