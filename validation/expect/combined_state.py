"""V14: the guide's state of a busy cluster, scaled.

One department at its limit, one half above its quota, one without a limit that serves a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from validation.expect.nodes import Bed
from validation.expect.over_quota import ImpossibleError, Team, teams
from validation.expect.shares import UNLIMITED
from validation.quantity import tidy
from validation.settings import Department, Project, StackOutputs


@dataclass(frozen=True)
class Row:
    """A queue as `runai project list` shows it: GPUs allocated of GPUs deserved (-1 = unlimited)."""

    name: str
    queue: str
    department: str
    allocated: float
    quota: float

    @property
    def percent(self) -> float | None:
        """Allocation in percent of the quota, None when that is unlimited or nothing."""
        return round(100 * self.allocated / self.quota, 1) if self.quota > 0 else None

    def numbers(self) -> dict[str, Any]:
        """As it is compared."""
        return {"allocated": tidy(self.allocated), "quota": tidy(self.quota), "percent": self.percent}


@dataclass(frozen=True)
class Plan:
    """Workloads by team, and what the queues hold then. `serving` is GPUs of the inference workload."""

    first: Team
    second: Team
    third: Project
    thirdDepartment: Department  # noqa: N815  (keys that the role reads)
    wholeFirst: int  # noqa: N815
    wholeSecond: int  # noqa: N815
    halves: int
    serving: float
    devices: int


def plan(outputs: StackOutputs, bed: Bed) -> Plan:
    """First team at its limit, second at 150 % of its quota with halves, third at half of its own.

    Raises ImpossibleError without such departments, or when the cluster is too small for all of it.
    """
    first, second = teams(outputs, [])
    third, department = _unlimited(outputs)
    whole, over = int(second.deserved), second.deserved / 2
    if second.limit != UNLIMITED and second.deserved + over > second.limit:
        raise ImpossibleError(
            f"combined_state lets {second.project} hold {second.deserved + over} GPUs, "
            f"its limit is {second.limit}"
        )
    serving = _half_of(third)
    halves = int(over * 2)
    made = Plan(
        first=first,
        second=second,
        third=third,
        thirdDepartment=department,
        wholeFirst=int(first.limit),
        wholeSecond=whole,
        halves=halves,
        serving=serving,
        devices=int(first.limit) + whole + ceil(over + serving % 1) + int(serving),
    )
    if made.devices > bed.budget:
        raise ImpossibleError(
            f"combined_state needs {made.devices} GPUs for {first.department}, {second.department} and "
            f"{department.name}; found {bed.tell()}; free GPUs or lower deserved and limit in the stack file"
        )
    return made


def _half_of(project: Project) -> float:
    """GPUs of a serving workload: half of the quota, which it may not exceed; one where that is unlimited."""
    deserved = project.gpu.deserved
    if deserved == UNLIMITED:
        return 1
    if deserved < 0.5:
        raise ImpossibleError(
            f"combined_state serves a model in project {project.name}, and that is not preemptible: it needs "
            f"a quota; found gpu.deserved {deserved:g}, set 1 or more in the stack file"
        )
    return int(deserved) // 2 if deserved >= 2 else 0.5


def _unlimited(outputs: StackOutputs) -> tuple[Project, Department]:
    for department in outputs.departments:
        mine = [p for p in outputs.pooled if p.department == department.name]
        if department.gpu.limit == UNLIMITED and mine:
            return mine[0], department
    raise ImpossibleError(
        "combined_state needs a department without a GPU limit that has a project (the guide's `default` "
        f"with `test`); departments: {', '.join(d.name for d in outputs.departments) or 'none'}"
    )


def rows(made: Plan) -> tuple[list[Row], list[Row]]:
    """(departments, projects) as they must be."""
    second = made.wholeSecond + made.halves / 2
    held = ((made.first, float(made.wholeFirst)), (made.second, second))
    departments = [Row(t.department, t.departmentQueue, t.department, gpus, t.deserved) for t, gpus in held]
    projects = [Row(t.project, t.queue, t.department, gpus, t.deserved) for t, gpus in held]
    over, third = made.thirdDepartment, made.third
    departments.append(Row(over.name, over.queue, over.name, made.serving, over.gpu.deserved))
    projects.append(Row(third.name, third.queue, over.name, made.serving, third.gpu.deserved))
    return departments, projects


def expected(made: Plan, nodes: list[dict[str, Any]], plain: list[str]) -> dict[str, Any]:
    """Expectations by check id; `nodes` and `plain` are those with and without GPUs before the test."""
    departments, projects = rows(made)
    everything = {row.queue: row.numbers() for row in departments + projects}
    return {
        "combined_state.queues": everything,
        "combined_state.prometheus": everything,
        "combined_state.workloads": {
            "running": {
                "first": made.wholeFirst,
                "second": made.wholeSecond,
                "half": made.halves,
                "serving": 1,
            },
            "gpus": tidy(sum(row.allocated for row in projects)),
        },
        "combined_state.nodes": {
            "allocated": made.devices + sum(int(n["gpus"]) - int(n["free"]) for n in nodes),
            "total": sum(int(n["gpus"]) for n in nodes),
            "withoutGpus": dict.fromkeys(plain, "N/A"),
            "unlimited": [row.name for row in departments if row.quota == UNLIMITED],
        },
    }
