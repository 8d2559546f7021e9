"""Values of KAI Resource Management's chart, which brings KAI Scheduler, and the objects it works on."""

from __future__ import annotations

from typing import Any

from components.addons.inputs import AddonInputs
from components.cluster import ClusterFacts
from components.config.org import Department
from components.config.sections import PlacementStrategy
from components.kai import v0_18
from components.kai.inputs import RESTRICTED_CONTEXT
from components.kai.settings import kai_inputs
from components.shares import ResolvedQuota

DEFAULT_POOL = "default"
# Unset is nothing at all to KRM: all three resources are always stated.
_UNBOUNDED = {"deserved": -1, "limit": -1, "overQuotaWeight": 1}


def values(inputs: AddonInputs, facts: ClusterFacts) -> dict[str, Any]:
    """Helm values; below `kai-scheduler` those that KAI's own chart takes when it is installed alone."""
    settings = inputs.settings
    registry, tag = inputs.repository_and_tag("krm-operator")
    kai = kai_inputs(settings, inputs.catalog, facts, scheduler_key(inputs), inputs.pull_secret)
    scheduler = v0_18.values(kai)
    scheduler["kaiConfigDeployer"] = {"enabled": True}
    scheduler["kaiConfig"] = {"render": False}
    monitored = settings.monitoring.enabled
    return {
        "image": {"registry": registry.rpartition("/")[0], "tag": tag},
        "global": {
            "imagePullPolicy": "IfNotPresent",
            "imagePullSecrets": inputs.pull_secrets(),
            "leaderElection": settings.scheduler.leader_election,
            "securityContext": RESTRICTED_CONTEXT,
        },
        "rbac": {"create": True},
        "serviceMonitor": {"create": monitored, "accounting": monitored},
        "kai-scheduler": scheduler,
        "defaultNodePool": {
            "enabled": True,
            "name": DEFAULT_POOL,
            "spec": _pool(settings.scheduler.placement),
        },
        "krmConfigDeployer": {"enabled": True},
        "projectController": {
            "args": {"projectNamePrefix": inputs.catalog.project_namespace.prefix.rstrip("-")},
            # Namespaces are this stack's: the controller would rewrite their Pod Security labels.
            "features": {"createNamespaces": False, "limitRange": False},
        },
    }


def scheduler_key(inputs: AddonInputs) -> str:
    """The catalog entry of the KAI Scheduler that comes with it. Raises StopIteration without one."""
    return next(key for key in inputs.part.requires if inputs.catalog.parts[key].name == "kai-scheduler")


def node_pool(label_key: str, name: str, placement: PlacementStrategy) -> dict[str, Any]:
    """Spec of a NodePool; its label is not changed later."""
    return {"labelKey": label_key, "labelValue": name, **_pool(placement)}


def department(item: Department, quota: ResolvedQuota) -> dict[str, Any]:
    """Spec of a Department."""
    return {"queues": [_queue(item.name, item.node_pool, quota)]}


def project(name: str, above: Department, namespace: str, quota: ResolvedQuota) -> dict[str, Any]:
    """Spec of a Project in a namespace that is there; without pools its workloads would wait for ever."""
    return {
        "parent": above.name,
        "namespace": namespace,
        "defaultNodePools": [above.node_pool or DEFAULT_POOL],
        "enforceKaiScheduler": True,
        "queues": [_queue(name, above.node_pool, quota)],
    }


def _queue(name: str, pool: str, quota: ResolvedQuota) -> dict[str, Any]:
    gpu = quota.output()
    return {
        "name": name,
        "nodepool": pool or DEFAULT_POOL,
        "resources": {"gpu": gpu, "cpu": _UNBOUNDED, "memory": _UNBOUNDED},
    }


def _pool(placement: PlacementStrategy) -> dict[str, Any]:
    return {"schedulingShardConfig": {"placementStrategy": {"gpu": placement.gpu, "cpu": placement.cpu}}}
