"""V9 topology: on which racks a gang's pods are, by the labels of their nodes."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe import nodes, pods, queues
from validation.observe.snapshot import Snapshot
from validation.observe.watched import Watched, ever_scheduled

Json = dict[str, Any]
TEST = "topology"


def placed(at: Snapshot, role: str) -> Json:
    """Running pods of a gang and their racks."""
    mine = [pod for pod in nodes.of_role(at, TEST, role) if pods.running(pod)]
    return {
        "running": len(mine),
        "racks": nodes.label_of_nodes(at, mine, names.RACK_LABEL),
        "pods": {pods.name(pod): pods.node(pod) for pod in mine},
    }


def impossible(at: Snapshot, watched: Watched, role: str) -> Json:
    """A gang that fits into the block but into no rack: it waits, and KAI says why."""
    mine = nodes.of_role(at, TEST, role)
    groups = {pods.name(group): group for pod in mine if (group := queues.group_of(pod, at.groups))}
    why = [reason for group in groups.values() for reason in queues.reasons(group)]
    block = [nodes.hostname(n) for n in at.nodes if pods.label(n, names.BLOCK_LABEL)]
    return {
        "pods": len(mine),
        "phases": sorted({pod["status"].get("phase", "Unknown") for pod in mine}),
        "everScheduled": ever_scheduled(watched.pods_only(TEST, role, mine)),
        "freeInBlock": nodes.free_now(at, block),
        "message": " | ".join(dict.fromkeys(reason["message"] for reason in why)),
    }
