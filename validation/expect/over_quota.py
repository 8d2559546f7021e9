"""V3: what two limited departments must hold on a cluster of any capacity."""

# ruff: noqa: N815  (field names are the keys that the roles read, like those of the outputs)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.shares import UNLIMITED, Claim, effective_limit, fair_share
from validation.settings import Department, Project, StackOutputs


@dataclass(frozen=True)
class Team:
    """One side of the test: its queues and numbers (GPUs)."""

    project: str
    department: str
    namespace: str
    queue: str
    departmentQueue: str
    deserved: float
    limit: float


@dataclass(frozen=True)
class Plan:
    """Jobs to submit (one GPU each) and what must be allocated after each step."""

    capacity: int
    first: Team
    second: Team
    firstJobs: int
    secondJobs: int
    borrowed: dict[str, int]
    both: dict[str, int]
    limitReached: bool


class ImpossibleError(ValueError):
    """The settings or the capacity leave nothing to test."""


def teams(outputs: StackOutputs, names: list[tuple[str, str]]) -> tuple[Team, Team]:
    """The two teams named as (department, project), or the first two limited departments with a project."""
    pairs = [(outputs.department(d), outputs.project(p)) for d, p in names] or _limited(outputs)
    if len(pairs) < 2:
        raise ImpossibleError(
            "over-quota needs two departments with a GPU limit and a project each; "
            f"found {len(pairs)}: set gpu.limit of two departments in the stack file"
        )
    first, second = (_team(d, p) for d, p in pairs[:2])
    return first, second


def _limited(outputs: StackOutputs) -> list[tuple[Department, Project]]:
    found = []
    for department in outputs.departments:
        mine = [p for p in outputs.pooled if p.department == department.name]
        if department.gpu.limit != UNLIMITED and mine:
            found.append((department, mine[0]))
    return found


def _team(department: Department, project: Project) -> Team:
    deserved = [g.deserved for g in (department.gpu, project.gpu) if g.deserved != UNLIMITED]
    return Team(
        project=project.name,
        department=department.name,
        namespace=project.namespace,
        queue=project.queue,
        departmentQueue=department.queue,
        deserved=min(deserved) if deserved else UNLIMITED,
        limit=effective_limit(project.gpu.limit, department.gpu.limit),
    )


def plan(first: Team, second: Team, capacity: int, scarce: bool = True) -> Plan:
    """The first team asks for its limit plus one, then the second for its quota.

    `scarce`: there are no more free GPUs than the capacity; otherwise only limits can hold the teams back.
    Raises ImpossibleError when a team is unlimited or the capacity cannot show borrowing.
    """
    if first.limit == UNLIMITED:
        raise ImpossibleError(
            f"department {first.department} has no GPU limit: over-quota has nothing to reach"
        )
    second_jobs = int(second.deserved)
    if second_jobs < 1 or int(first.deserved) < 1:
        raise ImpossibleError(
            f"deserved of {first.department} ({first.deserved}) and {second.department} ({second.deserved}) "
            "must be at least one whole GPU each"
        )
    first_jobs = min(int(first.limit), capacity)
    claims = (
        Claim(first.project, first.deserved, first.limit, first_jobs + 1),
        Claim(second.project, second.deserved, second.limit, second_jobs),
    )
    both = fair_share(capacity, claims)
    if not scarce and (both[first.project] < int(first.limit) or both[second.project] < second_jobs):
        raise ImpossibleError(
            f"{first.project} and {second.project} would hold more than the {capacity} GPUs that "
            f"validation.maxGpus allows: at their limits they hold {int(first.limit) + second_jobs}"
        )
    if both[first.project] <= first.deserved:
        raise ImpossibleError(
            f"{capacity} free GPUs do not let {first.project} borrow beside {second.project}: "
            f"its quota is {first.deserved}; free GPUs or lower deserved in the stack file"
        )
    borrowed = fair_share(capacity, claims[:1])
    return Plan(
        capacity,
        first,
        second,
        first_jobs,
        second_jobs,
        borrowed,
        both,
        limitReached=both[first.project] == int(first.limit),
    )


def allocation(team: Team, gpus: int) -> dict[str, Any]:
    """A team that holds `gpus`: in its project's and department's queue and summed over its pods."""
    return {
        "projectAllocated": gpus,
        "departmentAllocated": gpus,
        "podsGpus": gpus,
        "ratioPercent": round(100 * gpus / team.deserved, 1),
        "quota": team.deserved,
    }


def expected(made: Plan) -> dict[str, Any]:
    """Expectations by check id."""
    first, second = made.first, made.second
    pending: dict[str, Any] = {"phase": "Pending", "pods": 1, "nodes": []}
    if made.limitReached:
        # KAI names the queue whose limit it is: the project's or its department's.
        pending["reasons"] = {"contains": "OverLimit"}
        pending["queue"] = {"oneOf": [first.queue, first.departmentQueue]}
        pending["limit"] = first.limit
    return {
        "over_quota.start": {
            "allocated": {first.departmentQueue: 0, second.departmentQueue: 0},
            "freeGpus": {"atLeast": made.both[first.project] + made.both[second.project]},
        },
        "over_quota.borrow": {first.project: allocation(first, made.borrowed[first.project])},
        "over_quota.both": {
            first.project: allocation(first, made.both[first.project]),
            second.project: allocation(second, made.both[second.project]),
        },
        "over_quota.limit": pending,
        "over_quota.foreign": {"evicted": []},
    }
