"""Filters of the roles: expectations (validation/expect) and descriptions of workloads."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from ansible.errors import AnsibleFilterError

from validation import inference_server, model_streamer, workloads
from validation.expect import (
    fractional_gpu,
    jupyter_workspace,
    mnist_training,
    monitoring,
    over_quota,
    preflight,
    reclaim,
    told,
    vllm_inference,
)
from validation.expect import model_streamer as expect_streamer
from validation.expect.plans import PLANS
from validation.runai import choice
from validation.settings import load

Json = dict[str, Any]


def _explained(function: Callable[..., Any]) -> Callable[..., Any]:
    """Impossible settings become a filter error with the reason, not a traceback."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return json.loads(json.dumps(function(*args, **kwargs)))
        except ValueError as error:
            raise AnsibleFilterError(str(error)) from error

    return wrapped


def expect_preflight(kit: Json, live: Json, **limits: Any) -> Json:
    """Expectations of preflight by check id."""
    return preflight.expected(load(kit), live, **limits)


def project(kit: Json) -> str:
    """Name of the first project whose work goes to the nodes that tests may use."""
    return load(kit).chosen_project.name


def expect_fractional_gpu(_kit: Json) -> Json:
    """Expectations of V2 by check id."""
    return fractional_gpu.expected()


def expect_jupyter_workspace(kit: Json, queue: str, numbers: list[int]) -> Json:
    """Expectations of V6 by check id; numbers: what the kernel had to compute with."""
    return jupyter_workspace.expected(load(kit), queue, [int(n) for n in numbers])


def expect_mnist_training(kit: Json, queue: str, volume: str, origins: list[str]) -> Json:
    """Expectations of V7 by check id."""
    return mnist_training.expected(load(kit), queue, volume, origins)


def plan_monitoring(kit: Json, start: Json) -> Json:
    """Plan and expectations of V8; start: free GPUs and all GPUs by node, and the driver mode."""
    outputs = load(kit)
    made = monitoring.plan(start["free"], int(start["budget"]), outputs)
    return {
        **asdict(made),
        "devices": made.devices,
        "department": monitoring.DEPARTMENT,
        "queues": {
            "whole": monitoring.WHOLE,
            "shared": monitoring.SHARED,
            "waiting": monitoring.WAITING,
        },
        "service": monitoring.SERVICE,
        "expected": monitoring.expected(made, outputs, start["nodes"], start["mode"]),
    }


def plan_inference(kit: Json, project: str = "") -> Json:
    """Plan, expectations and applicable checks of V5."""
    outputs = load(kit)
    made = inference_server.plan(outputs, project)
    return {
        **asdict(made),
        "expected": vllm_inference.expected(outputs, made),
        "applicable": vllm_inference.applicable(outputs),
    }


def plan_model_streamer(kit: Json, script: str, project: str = "") -> Json:
    """Plan and expectations of the Model Streamer's test; `script` is what its Jobs run."""
    made = model_streamer.plan(load(kit), script, project)
    return {**asdict(made), "expected": expect_streamer.expected()}


def plan_over_quota(kit: Json, moment: Json, names: list[Json] | None = None) -> Json:
    """Plan and expectations of V3 from kit_observe's moment; names = [{department, project}, …] or none."""
    pairs = [(n["department"], n["project"]) for n in names or []]
    first, second = over_quota.teams(load(kit), pairs)
    made = over_quota.plan(first, second, int(moment["freeGpus"]), bool(moment["scarce"]))
    return {**asdict(made), "expected": over_quota.expected(made)}


def plan_reclaim(capacity: int, timeout: float, deserved: int = 0) -> Json:
    """Plan and expectations of V4 for a live capacity."""
    made = reclaim.plan(int(capacity), int(deserved))
    return {
        **asdict(made),
        "department": reclaim.DEPARTMENT,
        "victim": reclaim.VICTIM,
        "claimant": reclaim.CLAIMANT,
        "expected": reclaim.expected(made, float(timeout)),
    }


def plan(facts: Json, kit: Json, test: str, **given: Any) -> Json:
    """Plan and expectations of a scheduling test, from what kit_observe found of the GPU nodes."""
    return PLANS[test](load(kit), facts, given)


def driver(items: list[Json], kit: Json, wanted: str) -> str:
    """The driver that states these workloads."""
    return choice.choose(items, load(kit), wanted)


def expect_told(items: list[Json]) -> Json:
    """What the control plane has to tell of these workloads."""
    return told.expected(items)


def jobs(count: int, name: str, **item: Any) -> list[Json]:
    """Numbered workloads of one GPU each."""
    return workloads.jobs(int(count), name, **item)


def named(entries: list[Json], name: str, **item: Any) -> list[Json]:
    """Entries of a plan as numbered workloads."""
    return workloads.named(entries, name, **item)


def halves(numbers: list[int], name: str, **item: Any) -> list[Json]:
    """Workloads of half a GPU."""
    return workloads.halves(numbers, name, **item)


def complete(items: list[Json], kit: Json, image: str, command: list[str]) -> list[Json]:
    """Workloads with namespace and queue of their project."""
    return workloads.complete(items, load(kit), image, command)


class FilterModule:
    """Filters by the names that the roles use."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name -> function."""
        return {
            "kit_jobs": _explained(jobs),
            "kit_named": _explained(named),
            "kit_halves": _explained(halves),
            "kit_complete": _explained(complete),
            "kit_project": _explained(project),
            "kit_expect_preflight": _explained(expect_preflight),
            "kit_expect_fractional_gpu": _explained(expect_fractional_gpu),
            "kit_expect_jupyter_workspace": _explained(expect_jupyter_workspace),
            "kit_expect_mnist_training": _explained(expect_mnist_training),
            "kit_expect_told": _explained(expect_told),
            "kit_driver": _explained(driver),
            "kit_plan": _explained(plan),
            "kit_plan_monitoring": _explained(plan_monitoring),
            "kit_plan_inference": _explained(plan_inference),
            "kit_plan_model_streamer": _explained(plan_model_streamer),
            "kit_plan_over_quota": _explained(plan_over_quota),
            "kit_plan_reclaim": _explained(plan_reclaim),
        }
