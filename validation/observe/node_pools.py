"""V9 node pools: a second scheduler, and where pods of either pool are."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe import capacity, nodes, pods
from validation.observe.snapshot import Snapshot
from validation.observe.watched import Watched, ever_scheduled

Json = dict[str, Any]
TEST = "node_pools"


def scheduler(at: Snapshot, shard_name: str) -> Json:
    """The shard as it stands: its pool, the nodes in it, and ready replicas of its own scheduler."""
    shard = at.cluster.find(f"{names.SHARDS}/{shard_name}") or {}
    pool = shard.get("spec", {}).get("partitionLabelValue", "")
    namespace = ((at.config or {}).get("spec", {}).get("namespace")) or "kai-scheduler"
    name = f"{at.outputs.schedulerName}-{shard_name}"
    deployment = at.cluster.find(f"{names.in_namespace(names.DEPLOYMENTS, namespace)}/{name}") or {}
    return {
        "pool": pool,
        "nodes": sorted(
            n["metadata"]["name"] for n in at.nodes if pods.label(n, at.outputs.nodePoolLabelKey) == pool
        ),
        "ready": deployment.get("status", {}).get("readyReplicas", 0),
        "deployment": f"{namespace}/{name}",
    }


def outside(at: Snapshot, watched: Watched, pool: str) -> Json:
    """While the pool is idle: pods of the default pool, one of which names the pool's node."""
    stray = nodes.of_role(at, TEST, "stray")
    other = [pod for pod in nodes.of_role(at, TEST, "other") if pods.running(pod)]
    inside = [nodes.hostname(n) for n in at.nodes if pods.label(n, at.outputs.nodePoolLabelKey) == pool]
    return {
        "freeInPool": nodes.free_now(at, inside),
        "strayPhase": sorted({pod["status"].get("phase", "Unknown") for pod in stray}),
        "strayEverScheduled": ever_scheduled(watched.lives(TEST, "stray")),
        "otherRunning": len(other),
        "otherInPool": sum(1 for name in nodes.hostnames_of(at, other) if name in inside),
    }


def inside(at: Snapshot, watched: Watched) -> Json:
    """The pool's own pods: one that fills it, one that would need more."""
    filler = [pod for pod in nodes.of_role(at, TEST, "inside") if pods.running(pod)]
    excess = nodes.of_role(at, TEST, "excess")
    bed = capacity.in_pool(at.nodes, at.outputs.nodePoolLabelKey, at.outputs.validation.nodePool)
    others = [nodes.hostname(n) for n in bed]
    return {
        "running": len(filler),
        "nodes": sorted({str(pods.node(pod)) for pod in filler}),
        "gpus": sum(map(pods.gpus, filler)),
        "excessPhase": sorted({pod["status"].get("phase", "Unknown") for pod in excess}),
        "excessEverScheduled": ever_scheduled(watched.lives(TEST, "excess")),
        "freeElsewhere": nodes.free_now(at, others),
    }
