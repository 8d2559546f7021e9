"""Remove what a test made, and verify that nothing is left: also what KAI made for it."""

from __future__ import annotations

import time
from typing import Any

from validation import names
from validation.cluster import Cluster
from validation.observe import pods

Json = dict[str, Any]
# First what holds GPUs, then what it needs: a queue that goes before its pods leaves them without an owner.
HOLDERS = (names.JOBS, names.PODS, names.CLAIMS)
GROUND = (names.NAMESPACES, names.QUEUES)
# Kinds that KAI makes for a workload, under names derived from the workload's.
DERIVED = (names.POD_GROUPS, names.BIND_REQUESTS, names.CONFIG_MAPS)


def remove(
    cluster: Cluster, reservation_namespace: str, test: str = "", timeout: float = 60.0, interval: float = 0.5
) -> tuple[list[str], list[str]]:
    """(removed, left): delete everything of a test, or of all tests, and wait until it is gone."""
    deadline = time.monotonic() + timeout
    removed: list[str] = []
    for kinds in (HOLDERS, GROUND):
        for path in kinds:
            for thing in _labelled(cluster, path, test):
                if cluster.delete(_path(path, thing)):
                    removed.append(_title(path, thing))
        while kinds is HOLDERS and time.monotonic() < deadline and _labelled(cluster, names.PODS, test):
            time.sleep(interval)
    while (found := left(cluster, reservation_namespace, test)) and time.monotonic() < deadline:
        time.sleep(interval)
    return removed, found


def left(cluster: Cluster, reservation_namespace: str, test: str = "") -> list[str]:
    """What is still there of a test, or of all: labelled, derived by KAI, reservations nobody uses."""
    found = [_title(path, thing) for path in HOLDERS + GROUND for thing in _labelled(cluster, path, test)]
    # Derived names do not tell the test; only one test at a time has pods.
    for path in DERIVED:
        found += [
            _title(path, thing)
            for thing in cluster.items(path)
            if names.WORKLOAD_PREFIX in thing["metadata"]["name"] and _in_question(thing, test)
        ]
    return found + orphaned_reservations(cluster.items(names.PODS), reservation_namespace)


def _in_question(thing: Json, test: str) -> bool:
    other = pods.label(thing, names.TEST_LABEL)
    return not test or other is None or other == test


def orphaned_reservations(all_pods: list[Json], reservation_namespace: str) -> list[str]:
    """Reservation pods whose GPU group no other pod belongs to."""
    reservations = [p for p in all_pods if p["metadata"]["namespace"] == reservation_namespace]
    used = {
        group
        for p in all_pods
        if p["metadata"]["namespace"] != reservation_namespace and pods.active(p)
        for group in _groups(p)
    }
    return [
        _title(names.PODS, r)
        for r in reservations
        if (group := pods.label(r, names.GPU_GROUP_LABEL)) is not None and group not in used
    ]


def _groups(pod: Json) -> set[str]:
    """GPU groups of a pod: one by plain label, several by labels with the group in the key."""
    labels = pod["metadata"].get("labels") or {}
    return {value for key, value in labels.items() if key.partition("/")[0] == names.GPU_GROUP_LABEL}


def _labelled(cluster: Cluster, path: str, test: str) -> list[Json]:
    selector = f"{names.PART_OF_LABEL}={names.PART_OF}"
    if test:
        selector += f",{names.TEST_LABEL}={test}"
    return cluster.items(path, labelSelector=selector)


def _path(path: str, thing: Json) -> str:
    meta = thing["metadata"]
    base = names.in_namespace(path, meta["namespace"]) if "namespace" in meta else path
    return f"{base}/{meta['name']}"


def _title(path: str, thing: Json) -> str:
    return f"{path.rpartition('/')[2]} {pods.name(thing)}"
