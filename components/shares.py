"""Turns amounts such as "25%" into GPUs of a known capacity, and looks at the sum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from components.config.org import GpuQuota
from components.config.types import UNLIMITED, GpuAmount

if TYPE_CHECKING:
    from components.config.model import Settings


class ShareError(pulumi.RunError):
    """An amount that the cluster's capacity makes impossible."""


@dataclass(frozen=True)
class ResolvedQuota:
    """GPUs as KAI's Queue takes them: devices, -1 for unlimited."""

    deserved: float
    limit: float
    weight: float

    def output(self) -> dict[str, float]:
        """As the stack's outputs give it; whole numbers stay whole."""
        pairs = (("deserved", self.deserved), ("limit", self.limit), ("overQuotaWeight", self.weight))
        return {key: int(value) if value == int(value) else value for key, value in pairs}


def resolve(amount: GpuAmount, capacity: int, path: str) -> float:
    """Devices for an amount; a share is rounded down, but never to nothing unless it is 0%.

    Raises ShareError when a share of no GPUs at all is asked for.
    """
    if amount.percent is None:
        return UNLIMITED if amount.devices is None else amount.devices
    if amount.percent == 0:
        return 0.0
    if capacity == 0:
        raise ShareError(
            f"runai-kit:{path}: found {amount} of 0 GPUs; expected a capacity above 0; "
            "check that the nodes advertise nvidia.com/gpu, or give a number of GPUs"
        )
    # Decimal percents are not exact in binary: 7% of 100 must not become 6.
    return float(max(1, math.floor(capacity * amount.percent / 100 + 1e-9)))


def resolve_quota(quota: GpuQuota, capacity: int, path: str) -> ResolvedQuota:
    """Both amounts of a quota. Raises ShareError, also when deserved ends up above the limit."""
    deserved = resolve(quota.deserved, capacity, f"{path}.deserved")
    limit = resolve(quota.limit, capacity, f"{path}.limit")
    if exceeds(deserved, limit):
        raise ShareError(
            f"runai-kit:{path}.deserved: found {quota.deserved} = {deserved:g} of {capacity} GPUs; "
            f"expected at most the limit {quota.limit} = {limit:g}; lower it, or raise the limit"
        )
    return ResolvedQuota(deserved, limit, quota.over_quota_weight)


def exceeds(value: float, bound: float) -> bool:
    """More than the bound, -1 meaning unlimited on both sides."""
    if bound == UNLIMITED:
        return False
    return value == UNLIMITED or value > bound


@dataclass(frozen=True)
class ResolvedQueues:
    """Quotas by queue name, and warnings for a person to read."""

    quotas: Mapping[str, ResolvedQuota]
    warnings: tuple[str, ...]


def resolve_all(settings: Settings, capacity: Mapping[str, int]) -> ResolvedQueues:
    """Resolve every department and project; `capacity` is GPUs per node pool, "" for unlabelled nodes.

    Raises ShareError for a share of nothing and for a project whose limit is above its department's.
    """
    quotas: dict[str, ResolvedQuota] = {}
    promised: dict[str, float] = {}
    for i, department in enumerate(settings.departments):
        gpus = capacity.get(department.node_pool, 0)
        above = resolve_quota(department.gpu, gpus, f"departments[{i}].gpu")
        quotas[department.name] = above
        below = 0.0
        for j, project in enumerate(department.projects):
            path = f"departments[{i}].projects[{j}].gpu"
            quota = resolve_quota(project.gpu, gpus, path)
            # An unlimited project stays within its department, whose limit cuts it.
            if quota.limit != UNLIMITED and exceeds(quota.limit, above.limit):
                raise ShareError(
                    f"runai-kit:{path}.limit: found {project.gpu.limit} = {quota.limit:g} of {gpus} GPUs; "
                    f"expected at most the limit {above.limit:g} of department {department.name}; "
                    "lower it, or raise the department's"
                )
            quotas[project.name] = quota
            below += max(quota.deserved, 0.0)
        # What a department without a number of its own promises is what its projects were promised.
        share = below if above.deserved == UNLIMITED else above.deserved
        promised[department.node_pool] = promised.get(department.node_pool, 0.0) + share
    return ResolvedQueues(quotas, tuple(_warnings(promised, capacity)))


def _warnings(promised: Mapping[str, float], capacity: Mapping[str, int]) -> list[str]:
    return [
        f"runai-kit:departments: {total:g} GPUs are deserved in {f'pool {pool}' if pool else 'the cluster'}, "
        f"which has {capacity.get(pool, 0)}: nobody's share is guaranteed while all ask for theirs"
        for pool, total in promised.items()
        if total > capacity.get(pool, 0)
    ]
