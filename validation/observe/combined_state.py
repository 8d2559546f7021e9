"""V14, as Queue status, Prometheus, pods and nodes show it; tables as the vendor's command line has them."""

from __future__ import annotations

import time
from typing import Any

from validation import names, prometheus
from validation.cluster import ClusterError
from validation.expect.shares import UNLIMITED
from validation.observe import capacity, nodes, pods, queues
from validation.observe.snapshot import Snapshot
from validation.quantity import tidy

Json = dict[str, Any]
TEST = "combined_state"
ROLES = ("first", "second", "half", "serving")


def in_queues(at: Snapshot) -> Json:
    """Departments and projects by Queue status."""
    everything = [d.queue for d in at.outputs.departments] + [p.queue for p in at.outputs.projects]
    return {
        name: numbers(float(queues.allocated(at.queues.get(name))), queues.quota(at.queues.get(name)))
        for name in everything
    }


def in_prometheus(at: Snapshot, seconds: float, interval: float = 1.0) -> Json:
    """The same by KAI's metrics; {"error": why} when Prometheus cannot be asked.

    It knows after the next scrape: looks until it agrees with the Queues, or until `seconds` have passed.
    """
    wanted, deadline = in_queues(at), time.monotonic() + seconds
    while True:
        found = _asked(at)
        if {name: found.get(name) for name in wanted} == wanted or time.monotonic() > deadline:
            return found
        time.sleep(interval)


def _asked(at: Snapshot) -> Json:
    try:
        held = prometheus.values(at.cluster, at.outputs, "kai_queue_allocated_gpus", "queue_name")
        quota = prometheus.values(at.cluster, at.outputs, "kai_queue_deserved_gpus", "queue_name")
    except ClusterError as error:
        return {"error": str(error)}
    return {name: numbers(held[name], quota[name]) for name in sorted(held) if name in quota}


def numbers(held: float, quota: float) -> Json:
    """GPUs allocated, GPUs deserved (-1 = unlimited), and the ratio where there is one."""
    percent = round(100 * held / quota, 1) if quota > 0 else None
    return {"allocated": tidy(held), "quota": tidy(quota), "percent": percent}


def workloads(at: Snapshot) -> Json:
    """Running pods by part, and the GPUs that they ask for."""
    mine = {role: [p for p in nodes.of_role(at, TEST, role) if pods.running(p)] for role in ROLES}
    return {
        "running": {role: len(found) for role, found in mine.items()},
        "gpus": pods.total_gpus(pod for found in mine.values() for pod in found),
    }


def node_rows(at: Snapshot) -> list[Json]:
    """One row per node; what has no GPU says N/A, as `runai node list` does."""
    held = pods.held_by_node(at.pods)
    rows = []
    for node in sorted(at.nodes, key=lambda n: str(n["metadata"]["name"])):
        name, total = node["metadata"]["name"], capacity.allocatable(node)
        ready = {c["type"]: c["status"] for c in node["status"].get("conditions") or []}.get("Ready")
        used = held.get(name, 0)
        rows.append(
            {
                "name": name,
                "status": "Ready" if ready == "True" else "NotReady",
                "type": pods.label(node, names.GPU_PRODUCT_LABEL) if total else "N/A",
                "allocated": f"{used}/{total}" if total else "N/A",
                "free": str(total - used) if total else "N/A",
                "pool": pods.label(node, at.outputs.nodePoolLabelKey) or "default",
            }
        )
    return rows


def on_nodes(at: Snapshot) -> Json:
    """The rows as they are compared."""
    rows = node_rows(at)
    # What others do on nodes that the tests may not use is not compared.
    with_gpus = [row["allocated"].split("/") for row in rows if row["name"] in at.capacity.allocatable]
    unlimited = [d.name for d in at.outputs.departments if queues.quota(at.queues.get(d.queue)) == UNLIMITED]
    return {
        "allocated": sum(int(used) for used, _ in with_gpus),
        "total": sum(int(total) for _, total in with_gpus),
        "withoutGpus": {row["name"]: row["allocated"] for row in rows if row["allocated"] == "N/A"},
        "unlimited": unlimited,
    }


def tables(at: Snapshot) -> dict[str, str]:
    """File name -> text, in the columns of `runai node|department|project list`."""
    shown = in_queues(at)
    ratio = ("GPU Quota", "Allocated GPUs", "GPU Allocation Ratio")
    departments = [[d.name, *_ratio(shown[d.queue])] for d in at.outputs.departments]
    projects = [[p.name, p.department, *_ratio(shown[p.queue])] for p in at.outputs.projects]
    columns = ("name", "status", "type", "allocated", "free", "pool")
    rows = [[str(row[column]) for column in columns] for row in node_rows(at)]
    return {
        "nodes.txt": table(
            ("Name", "Status", "GPU Type", "Allocated/Total GPUs", "Free GPUs", "Nodepool"), rows
        ),
        "departments.txt": table(("Name", *ratio), departments),
        "projects.txt": table(("Name", "Department", *ratio), projects),
    }


def _ratio(shown: Json) -> list[str]:
    if shown["percent"] is None:
        quota = "unlimited" if shown["quota"] == UNLIMITED else f"{shown['quota']:.2f}"
        return [quota, f"{shown['allocated']:.2f}", "no quota to compare with"]
    return [f"{shown['quota']:.2f}", f"{shown['allocated']:.2f}", f"{shown['percent']:.2f}%"]


def table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    """Columns of equal width."""
    widths = [max(len(row[i]) for row in [list(head), *rows]) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [list(head), *rows]
    ]
    return "\n".join(lines) + "\n"
