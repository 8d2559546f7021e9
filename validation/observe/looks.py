"""The scheduling tests' looks at the cluster by name, for `kit_observe`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from validation import prometheus
from validation.observe import (
    coexistence,
    combined_state,
    evictions,
    fallbacks,
    gang,
    node_pools,
    nodes,
    partitions,
    placement,
    priority,
    topology,
    usage,
    vcf_operations,
    vks_packages,
)
from validation.observe.snapshot import Snapshot
from validation.observe.watched import Watched

Json = dict[str, Any]
Look = Callable[[Snapshot, Watched, Json], Json]


def _gpu_nodes(at: Snapshot, _watched: Watched, given: Json) -> Json:
    found = nodes.facts(at)
    if given.get("scrape"):
        namespace = ((at.config or {}).get("spec", {}).get("namespace")) or "kai-scheduler"
        found["scrapeSeconds"] = prometheus.scrape_seconds(at.cluster, at.outputs, namespace)
    return found


def _evictions(at: Snapshot, _watched: Watched, given: Json) -> Json:
    """Of other people's pods, by check id."""
    seen = evictions.since(at.cluster, given["since"])
    foreign = evictions.foreign(seen)
    return {given["check"]: {"evicted": foreign, "evictionsOfTheTest": len(seen) - len(foreign)}}


def _topology(at: Snapshot, watched: Watched, given: Json) -> Json:
    if given.get("impossible"):
        return {"topology.impossible": topology.impossible(at, watched, given["impossible"])}
    return topology.placed(at, given["role"])


def _combined_state(at: Snapshot, _watched: Watched, given: Json) -> Json:
    return {
        "combined_state.queues": combined_state.in_queues(at),
        "combined_state.prometheus": combined_state.in_prometheus(at, float(given["seconds"])),
        "combined_state.workloads": combined_state.workloads(at),
        "combined_state.nodes": combined_state.on_nodes(at),
    }


def _fallbacks(at: Snapshot, _watched: Watched, _given: Json) -> Json:
    return {
        "fallbacks.quota": fallbacks.quota(at),
        "fallbacks.capacity": fallbacks.capacity(at),
        "fallbacks.logs": fallbacks.logs(at),
        "fallbacks.mirror": fallbacks.mirror(at),
    }


def _partitions(at: Snapshot, _watched: Watched, _given: Json) -> Json:
    found = partitions.offered(at)
    chosen = partitions.choice(found)
    return {"offered": found, "choice": chosen, "applicable": partitions.applicable(chosen)}


def _vcf_operations(at: Snapshot, _watched: Watched, _given: Json) -> Json:
    outputs = at.outputs
    inside = dict.fromkeys(vks_packages.CHECKS, bool(outputs.vksMonitoring.packages))
    inside["vcf_operations.proxy"] &= outputs.vksMonitoring.metricProxy
    inside["vcf_operations.counters"] &= outputs.vksMonitoring.dcgm
    outside = dict.fromkeys(vcf_operations.CHECKS, bool(outputs.vcfOperations.url))
    found = {**vks_packages.observe(at), **vcf_operations.observe(outputs)}
    return {"checks": found, "applicable": {**inside, **outside}}


LOOKS: Mapping[str, Look] = {
    "gpu_nodes": _gpu_nodes,
    "evictions": _evictions,
    "gang_waits": lambda at, seen, given: {"gang.waits": gang.waits(at, seen, given["nodes"])},
    "gang_starts": lambda at, seen, given: {"gang.starts": gang.starts(at, seen, given["uids"])},
    "topology": _topology,
    "priority_fill": lambda at, _seen, _given: {"priority.fill": priority.fill(at)},
    "priority_preempts": lambda at, seen, given: {
        "priority.preempts": priority.preempts(at, seen, float(given["since"]))
    },
    "priority_protected": lambda at, seen, given: {
        "priority.protected": priority.protected(at, seen, given["uids"], float(given["since"]))
    },
    "priority_quota": lambda at, _seen, _given: {"priority.quota": priority.quota(at)},
    "placement": lambda at, _seen, given: placement.observe(at, given["over"]),
    "coexistence_full": lambda at, _seen, _given: {
        "coexistence.full": coexistence.full(at),
        "uids": coexistence.uids(at),
    },
    "coexistence": lambda at, _seen, given: coexistence.observe(at, given["before"]),
    "node_pools_outside": lambda at, seen, given: {
        "node_pools.outside": node_pools.outside(at, seen, given["pool"]),
        "node_pools.scheduler": node_pools.scheduler(at, given["pool"]),
    },
    "node_pools_inside": lambda at, seen, _given: {"node_pools.inside": node_pools.inside(at, seen)},
    "shard": lambda at, _seen, given: node_pools.scheduler(at, given["pool"]),
    "fair_share_over_time_jobs": lambda at, _seen, given: usage.jobs(at, given["used"], given["spared"]),
    "fair_share_over_time_usage": lambda at, _seen, given: usage.usage(
        at, given["pool"], given["used"], given["spared"], float(given["seconds"])
    ),
    "fair_share_over_time_shifted": lambda at, _seen, given: usage.shifted(
        at, given["pool"], given["used"], given["spared"]
    ),
    "combined_state": _combined_state,
    "combined_state_tables": lambda at, _seen, _given: combined_state.tables(at),
    "fallbacks": _fallbacks,
    "vcf_operations": _vcf_operations,
    "partitions_offered": _partitions,
    "partitions": lambda at, _seen, given: partitions.observe(at, given["offered"]),
}
