"""Can a test be proved within the bounds of the settings (validation.maxGpus, validation.nodePool)?

A bound that leaves too little is no fault of the cluster: the test is skipped, and told is which bound it
needs. What the cluster cannot do without bounds either is no matter of bounds: there the test runs and fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from validation.expect import (
    coexistence,
    combined_state,
    fair_share_over_time,
    fallbacks,
    gang,
    monitoring,
    node_pools,
    over_quota,
    placement,
    priority,
    reclaim,
    topology,
)
from validation.expect.nodes import Bed, need, need_scarcity
from validation.expect.over_quota import ImpossibleError
from validation.settings import OutputsError, StackOutputs

Trial = Callable[[StackOutputs, Bed], object]
# A trial asks whether there is a plan; whether Prometheus scrapes is another question.
SOME_SECONDS = 1.0


def _one_gpu(outputs: StackOutputs, bed: Bed) -> None:
    need(bed, 1, "the test")
    _project(outputs, bed)


def _project(outputs: StackOutputs, _bed: Bed) -> None:
    try:
        _ = outputs.chosen_project
    except OutputsError as error:
        raise ImpossibleError(str(error)) from None


def _over_quota(outputs: StackOutputs, bed: Bed) -> object:
    return over_quota.plan(*over_quota.teams(outputs, []), bed.budget, bed.scarce)


def _reclaim(_outputs: StackOutputs, bed: Bed) -> object:
    need_scarcity(bed, "reclaim")
    return reclaim.plan(bed.budget)


def _topology(_outputs: StackOutputs, bed: Bed) -> object:
    made = topology.plan(bed)
    if made.late:
        # KAI 0.12 finds no rack where one labelled node is all there is of a topology (0 of 2 pods placed).
        raise ImpossibleError(f"topology needs two nodes with one and two free GPUs; found {bed.tell()}")
    return made


def _node_pools(outputs: StackOutputs, bed: Bed) -> object:
    if pool := outputs.validation.nodePool:
        raise ImpossibleError(
            f"node_pools is about nodes of no pool, and validation.nodePool is {pool!r}; leave it empty"
        )
    return node_pools.plan(bed)


TRIALS: Mapping[str, Trial] = {
    "fractional_gpu": _one_gpu,
    "over_quota": _over_quota,
    "reclaim": _reclaim,
    "gang": lambda _outputs, bed: gang.plan(bed),
    "topology": _topology,
    "priority": lambda _outputs, bed: priority.plan(bed),
    "placement": lambda outputs, bed: placement.plan(bed, outputs.placement.gpu, outputs.gpuSharing),
    "coexistence": lambda _outputs, bed: coexistence.plan(bed),
    "node_pools": _node_pools,
    "fair_share_over_time": lambda _outputs, bed: fair_share_over_time.plan(bed, SOME_SECONDS),
    "combined_state": combined_state.plan,
    "fallbacks": lambda _outputs, bed: fallbacks.plan(bed),
    "monitoring": lambda outputs, bed: monitoring.plan(
        {node.name: node.free for node in bed.nodes}, bed.budget, outputs
    ),
    "vllm_inference": _one_gpu,
    "model_streamer": _project,
    "jupyter_workspace": _one_gpu,
    "mnist_training": _one_gpu,
}


def obstacle(test: str, outputs: StackOutputs, bed: Bed) -> str:
    """Why a test cannot be planned on this bed, "" when it can."""
    try:
        if test in TRIALS:
            TRIALS[test](outputs, bed)
    except ValueError as error:
        # An ImpossibleError, or shares that exceed what there is.
        return str(error)
    return ""


def unprovable(test: str, outputs: StackOutputs, bed: Bed, cluster: Bed) -> str:
    """Why the bounds leave too little for a test, and which bound it needs; "" when they do not.

    `bed`: what the bounds leave; `cluster`: all GPU nodes without any bound.
    """
    bounds = outputs.validation
    if not (bounds.maxGpus or bounds.nodePool) or not (why := obstacle(test, outputs, bed)):
        return ""
    free: dict[str, Any] = {"validation": bounds.model_copy(update={"maxGpus": 0, "nodePool": ""})}
    if obstacle(test, outputs.model_copy(update=free), cluster):
        return ""
    return f"cannot be proved within {_words(outputs)}: {why}; it needs {_needed(test, outputs, bed)}"


def _needed(test: str, outputs: StackOutputs, bed: Bed) -> str:
    for budget in range(bed.budget + 1, bed.free + 1):
        if not obstacle(test, outputs, replace(bed, budget=budget, scarce=budget == bed.free)):
            return f"validation.maxGpus {budget}, or 0 for no bound"
    if outputs.validation.nodePool:
        return "another validation.nodePool, or none"
    return "more free GPUs"


def _words(outputs: StackOutputs) -> str:
    bounds = outputs.validation
    said = [f"validation.maxGpus = {bounds.maxGpus}"] if bounds.maxGpus else []
    said += [f"validation.nodePool = {bounds.nodePool}"] if bounds.nodePool else []
    return " and ".join(said)
