"""What a plan starts from: GPU nodes with what is free on them, as far as the settings allow."""

from __future__ import annotations

import time
from typing import Any

from validation import names
from validation.observe import capacity, evictions, pods
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
HOSTNAME = "kubernetes.io/hostname"


def hostname(node: Json) -> str:
    """The label by which pods choose a node; its name where the label is missing."""
    return pods.label(node, HOSTNAME) or str(node["metadata"]["name"])


def facts(at: Snapshot) -> Json:
    """What a plan starts from, evictions so far, and the time (Unix s)."""
    return {
        **bed(at, at.capacity),
        "evictions": evictions.seen(at.cluster),
        "epoch": time.time(),
    }


def bed(at: Snapshot, measured: capacity.Capacity) -> Json:
    """GPU nodes with their pools, nodes without GPUs, and what is free."""
    offered, held = measured.allocatable, measured.held
    by_name = {node["metadata"]["name"]: node for node in at.nodes}
    return {
        "nodes": [
            {
                "name": name,
                "hostname": hostname(by_name[name]),
                "gpus": gpus,
                "free": max(0, gpus - held.get(name, 0)),
                "shared": bool(held.get(name)),
                "pool": pods.label(by_name[name], at.outputs.nodePoolLabelKey) or "",
            }
            for name, gpus in sorted(offered.items())
        ],
        "plainNodes": sorted(name for name, node in by_name.items() if not capacity.allocatable(node)),
        "freeGpus": measured.free,
        "scarce": measured.free == measured.unbounded,
    }


def free_now(at: Snapshot, hostnames: list[str] | None = None) -> int:
    """GPUs of these nodes, or of all, that no pod holds, the suite's own pods counted."""
    held = pods.held_by_node(at.pods)
    return sum(
        capacity.allocatable(node) - held.get(node["metadata"]["name"], 0)
        for node in at.nodes
        if hostnames is None or hostname(node) in hostnames
    )


def hostnames_of(at: Snapshot, mine: list[Json]) -> list[str]:
    """Nodes that these pods are on, each once, sorted."""
    by_name = {node["metadata"]["name"]: node for node in at.nodes}
    return sorted({hostname(by_name[n]) for pod in mine if (n := pods.node(pod)) in by_name and n})


def label_of_nodes(at: Snapshot, mine: list[Json], key: str) -> list[str]:
    """Values of a node label under these pods, each once, sorted; "" where a node has none."""
    by_name = {node["metadata"]["name"]: node for node in at.nodes}
    return sorted(
        {pods.label(by_name[n], key) or "" for pod in mine if (n := pods.node(pod)) in by_name and n}
    )


def pool_of(at: Snapshot, node: str) -> str:
    """Pool of a node, "" without one."""
    labels: Json = next((n for n in at.nodes if n["metadata"]["name"] == node), {"metadata": {}})
    return pods.label(labels, at.outputs.nodePoolLabelKey) or ""


def of_role(at: Snapshot, test: str, role: str) -> list[Json]:
    """A test's pods of one part that are not over, in order of their names."""
    mine = [p for p in at.mine(test) if pods.label(p, names.ROLE_LABEL) == role and pods.active(p)]
    return sorted(mine, key=pods.name)
