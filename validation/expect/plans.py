"""The scheduling tests' plans by name, for the filter `kit_plan`: numbers and expectations in one dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from validation.expect import (
    coexistence,
    combined_state,
    fair_share_over_time,
    fallbacks,
    gang,
    node_pools,
    partitions,
    placement,
    priority,
    topology,
    vcf_operations,
)
from validation.expect.nodes import bed
from validation.settings import StackOutputs

Json = dict[str, Any]


def _gang(outputs: StackOutputs, facts: Json, _given: Json) -> Json:
    made = gang.plan(bed(facts))
    return {
        **asdict(made),
        "queue": gang.QUEUE,
        "pods": gang.PODS,
        "expected": gang.expected(made, outputs.validation.timeoutSeconds),
    }


def _topology(_outputs: StackOutputs, facts: Json, _given: Json) -> Json:
    made = topology.plan(bed(facts))
    names = {"queue": topology.QUEUE, "topology": topology.TOPOLOGY, "block": topology.BLOCK}
    fillers = [{"nodes": [rack.hostname], "gpus": rack.filler} for rack in made.racks if rack.filler]
    return {**asdict(made), **names, "fillers": fillers, "expected": topology.expected(made)}


def _priority(_outputs: StackOutputs, facts: Json, _given: Json) -> Json:
    made = priority.plan(bed(facts))
    return {
        **asdict(made),
        "evicted": made.evicted,
        "queue": priority.QUEUE,
        "expected": priority.expected(made),
    }


def _placement(outputs: StackOutputs, facts: Json, given: Json) -> Json:
    made = placement.plan(bed(facts), given["strategy"], outputs.gpuSharing)
    return {**asdict(made), "queue": placement.QUEUE, "expected": placement.expected(made)}


def _coexistence(_outputs: StackOutputs, facts: Json, _given: Json) -> Json:
    made = coexistence.plan(bed(facts))
    names = {"queue": coexistence.QUEUE, "namespace": coexistence.NAMESPACE, "each": coexistence.EACH}
    return {**asdict(made), **names, "expected": coexistence.expected(made)}


def _node_pools(_outputs: StackOutputs, facts: Json, _given: Json) -> Json:
    made = node_pools.plan(bed(facts))
    inside, outside = node_pools.QUEUES
    names = {"pool": node_pools.POOL, "inside": inside, "outside": outside}
    return {**asdict(made), **names, "expected": node_pools.expected(made)}


def _fair_share_over_time(_outputs: StackOutputs, facts: Json, given: Json) -> Json:
    made = fair_share_over_time.plan(bed(facts), float(given["scrapeSeconds"]))
    names = {
        "pool": fair_share_over_time.POOL,
        "department": fair_share_over_time.DEPARTMENT,
        "used": fair_share_over_time.USED,
        "spared": fair_share_over_time.SPARED,
        "kValue": fair_share_over_time.K_VALUE,
        "gpus": made.gpus,
    }
    return {**asdict(made), **names, "expected": fair_share_over_time.expected(made)}


def _partitions(_outputs: StackOutputs, _facts: Json, _given: Json) -> Json:
    return {"expected": partitions.expected()}


def _vcf_operations(outputs: StackOutputs, _facts: Json, _given: Json) -> Json:
    return {"expected": vcf_operations.expected(outputs)}


def _fallbacks(_outputs: StackOutputs, facts: Json, given: Json) -> Json:
    made = fallbacks.plan(bed(facts))
    tried = fallbacks.origins(given["namespace"], given["mirror"])
    names = {
        "queue": fallbacks.QUEUE,
        "openQueue": fallbacks.OPEN_QUEUE,
        "mirrorName": fallbacks.MIRROR,
        "originArguments": [word for origin in tried for word in ("--origin", origin)],
    }
    wanted = fallbacks.expected(made, given["token"], tried, not given["mirror"])
    return {**asdict(made), **names, "expected": wanted}


def _combined_state(outputs: StackOutputs, facts: Json, _given: Json) -> Json:
    made = combined_state.plan(outputs, bed(facts))
    plain = {
        "third": made.third.model_dump(),
        "thirdDepartment": made.thirdDepartment.model_dump(),
        "first": asdict(made.first),
        "second": asdict(made.second),
    }
    numbers = {
        "wholeFirst": made.wholeFirst,
        "wholeSecond": made.wholeSecond,
        "halves": made.halves,
        "serving": made.serving,
        "devices": made.devices,
    }
    wanted = combined_state.expected(made, facts["nodes"], facts["plainNodes"])
    return {**plain, **numbers, "expected": wanted}


PLANS: Mapping[str, Callable[[StackOutputs, Json, Json], Json]] = {
    "coexistence": _coexistence,
    "combined_state": _combined_state,
    "fair_share_over_time": _fair_share_over_time,
    "fallbacks": _fallbacks,
    "gang": _gang,
    "node_pools": _node_pools,
    "partitions": _partitions,
    "placement": _placement,
    "priority": _priority,
    "topology": _topology,
    "vcf_operations": _vcf_operations,
}
