"""Rules on quotas that hold whatever the capacity: comparisons of amounts in the same unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from components.config.errors import Problem
from components.config.org import GpuQuota
from components.config.types import GpuAmount

if TYPE_CHECKING:
    from components.config.model import Settings


def quota_problems(settings: Settings) -> Iterator[Problem]:
    """Deserved above limit, a project's limit above its department's, parts of a GPU without sharing."""
    for i, department in enumerate(settings.departments):
        place = f"departments[{i}]"
        yield from _quota(f"{place}.gpu", department.gpu, settings)
        for j, project in enumerate(department.projects):
            path = f"{place}.projects[{j}].gpu"
            yield from _quota(path, project.gpu, settings)
            if _exceeds(project.gpu.limit, department.gpu.limit):
                yield Problem(
                    f"{path}.limit",
                    str(project.gpu.limit),
                    f"at most the limit {department.gpu.limit} of department {department.name}",
                    "lower it, or raise the department's limit",
                )


def _quota(path: str, quota: GpuQuota, settings: Settings) -> Iterator[Problem]:
    if _exceeds(quota.deserved, quota.limit) or (quota.deserved.unlimited and not quota.limit.unlimited):
        yield Problem(
            f"{path}.deserved",
            str(quota.deserved),
            f"at most the limit {quota.limit}",
            "lower it, or raise the limit",
        )
    for name, amount in (("deserved", quota.deserved), ("limit", quota.limit)):
        if amount.devices is not None and amount.devices % 1 and not settings.fractions():
            yield Problem(
                f"{path}.{name}",
                str(amount),
                f'whole GPUs while sharing is "{settings.sharing}"',
                "use a whole number, or a way of sharing that the scheduler places",
            )


def _exceeds(amount: GpuAmount, bound: GpuAmount) -> bool:
    """Surely more than the bound; an unlimited amount stays within it, the queue above cuts it."""
    if amount.percent is not None and bound.percent is not None:
        return amount.percent > bound.percent
    if amount.devices is not None and bound.devices is not None:
        return not bound.unlimited and amount.devices > bound.devices
    return False
