"""Remove what a test made, and verify that nothing is left: also what KAI made for it."""

from __future__ import annotations

import time
from typing import Any

from validation import names, node_labels
from validation.cluster import Cluster
from validation.observe import pods

Json = dict[str, Any]
# What Knative makes for a Service goes with it, and before the pods are deleted, or they would be replaced.
MAKERS = (names.KNATIVE_SERVICES,)
MADE = (*names.KNATIVE_MADE, names.DEPLOYMENTS)
# A pod of Knative ends politely only after half a minute without requests; a test's pods get none any more.
SERVING_LABEL = "serving.knative.dev/service"
SERVING_GRACE_SECONDS = 2
# First what holds GPUs, then what it needs: a queue that goes before its pods leaves them without an owner.
HOLDERS = (names.JOBS, names.STATEFUL_SETS, names.DEPLOYMENTS, names.PODS, names.CLAIMS)
BELONGINGS = (
    names.INGRESSES,
    names.SERVICES,
    names.SECRETS,
    names.CONFIG_MAPS,
    names.PROMETHEUS_RULES,
)
GROUND = (
    names.POD_GROUPS,
    names.RESOURCE_CLAIM_TEMPLATES,
    names.NAMESPACES,
    names.QUEUES,
    names.TOPOLOGIES,
    names.SHARDS,
)
# Kinds that KAI makes for a workload, under names derived from the workload's.
DERIVED = (names.POD_GROUPS, names.BIND_REQUESTS, names.CONFIG_MAPS)


def remove(
    cluster: Cluster, reservation_namespace: str, test: str = "", timeout: float = 60.0, interval: float = 0.5
) -> tuple[list[str], list[str]]:
    """(removed, left): delete everything of a test, or of all tests, and wait until it is gone."""
    deadline = time.monotonic() + timeout
    removed: list[str] = []
    for kinds in (MAKERS, HOLDERS, BELONGINGS, GROUND):
        for path in kinds:
            for thing in _own(cluster, path, test):
                if cluster.delete(_path(path, thing), _grace(path, thing)):
                    removed.append(_title(path, thing))
        while time.monotonic() < deadline and _awaited(cluster, kinds, test):
            removed += _hurry(cluster, test) if kinds is MAKERS else []
            time.sleep(interval)
    removed += node_labels.remove(cluster, test)
    while (found := left(cluster, reservation_namespace, test)) and time.monotonic() < deadline:
        time.sleep(interval)
    return list(dict.fromkeys(removed)), found


def remove_roles(
    cluster: Cluster, test: str, roles: list[str], timeout: float = 60.0, interval: float = 0.5
) -> tuple[list[str], list[str]]:
    """(removed, left) of some parts of a test, in its middle: what runs, and the PodGroups it was in."""
    deadline = time.monotonic() + timeout
    removed: list[str] = []

    def mine(path: str) -> list[Json]:
        return [t for t in _own(cluster, path, test) if pods.label(t, names.ROLE_LABEL) in roles]

    kinds = (*HOLDERS, names.POD_GROUPS)
    for path in kinds:
        for thing in mine(path):
            if cluster.delete(_path(path, thing), _grace(path, thing)):
                removed.append(_title(path, thing))
    while (found := [_title(p, t) for p in kinds for t in mine(p)]) and time.monotonic() < deadline:
        time.sleep(interval)
    return list(dict.fromkeys(removed)), found


def left(cluster: Cluster, reservation_namespace: str, test: str = "") -> list[str]:
    """What is still there of a test, or of all: labelled, derived by KAI, reservations nobody uses."""
    kinds = MAKERS + MADE + HOLDERS + BELONGINGS + GROUND
    found = [_title(path, thing) + _held(thing) for path in kinds for thing in _own(cluster, path, test)]
    # Derived names do not tell the test, but are made from names of its things: what another test that runs
    # beside this one still has is not this one's.
    theirs = _names_of_others(cluster, test)
    for path in DERIVED:
        found += [
            _title(path, thing) + _held(thing)
            for thing in cluster.items(path)
            if names.WORKLOAD_PREFIX in thing["metadata"]["name"]
            and _in_question(thing, test)
            and not any(name in thing["metadata"]["name"] for name in theirs)
        ]
    found += node_labels.left(cluster, test) + shard_schedulers(cluster, test)
    found += orphaned_reservations(cluster.items(names.PODS), reservation_namespace)
    return list(dict.fromkeys(found))


def _in_question(thing: Json, test: str) -> bool:
    other = pods.label(thing, names.TEST_LABEL)
    return not test or other is None or other == test


def _names_of_others(cluster: Cluster, test: str) -> set[str]:
    """Names of what other tests have in the cluster now; none where all tests are meant."""
    if not test:
        return set()
    return {
        thing["metadata"]["name"]
        for path in (*MAKERS, *MADE, *HOLDERS, names.SHARDS)
        for thing in _labelled(cluster, path, "")
        if pods.label(thing, names.TEST_LABEL) not in (None, test)
    }


def shard_schedulers(cluster: Cluster, test: str = "") -> list[str]:
    """Schedulers that KAI's operator made for a test's SchedulingShard: they carry no label of the test."""
    return [
        _title(names.DEPLOYMENTS, thing)
        for thing in cluster.items(names.DEPLOYMENTS)
        if node_labels.mark(test) in thing["metadata"]["name"] and pods.label(thing, names.TEST_LABEL) is None
    ]


def orphaned_reservations(all_pods: list[Json], reservation_namespace: str) -> list[str]:
    """Reservation pods whose GPU group no other pod belongs to."""
    reservations = [p for p in all_pods if p["metadata"]["namespace"] == reservation_namespace]
    used = {
        group
        for p in all_pods
        if p["metadata"]["namespace"] != reservation_namespace and pods.active(p)
        for group in pods.gpu_groups(p)
    }
    return [
        _title(names.PODS, r)
        for r in reservations
        if (group := pods.label(r, names.GPU_GROUP_LABEL)) is not None and group not in used
    ]


def _own(cluster: Cluster, path: str, test: str) -> list[Json]:
    """Labelled things of a kind; of PodGroups those without an owner: others go with it, or it is a fault."""
    things = _labelled(cluster, path, test)
    if path != names.POD_GROUPS:
        return things
    return [thing for thing in things if not thing["metadata"].get("ownerReferences")]


def _awaited(cluster: Cluster, kinds: tuple[str, ...], test: str) -> bool:
    """Is something of these kinds, or made by them, still there that the next kinds have to wait for?"""
    if kinds is MAKERS:
        made = (thing for path in MADE for thing in _labelled(cluster, path, test))
        return any(thing["metadata"].get("ownerReferences") for thing in made)
    return kinds is HOLDERS and bool(_labelled(cluster, names.PODS, test))


def _hurry(cluster: Cluster, test: str) -> list[str]:
    """Delete pods of Knative before its own clean-up does: a time of grace that runs cannot be shortened."""
    mine = [p for p in _labelled(cluster, names.PODS, test) if pods.label(p, SERVING_LABEL)]
    ending = [p for p in mine if "deletionTimestamp" not in p["metadata"]]
    return [
        _title(names.PODS, p) for p in ending if cluster.delete(_path(names.PODS, p), _grace(names.PODS, p))
    ]


def _grace(path: str, thing: Json) -> int | None:
    """Seconds that a thing gets for its end; None leaves it to the thing."""
    return SERVING_GRACE_SECONDS if path == names.PODS and pods.label(thing, SERVING_LABEL) else None


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


def _held(thing: Json) -> str:
    """What keeps a thing that was deleted: its finalizers, or what its namespace says of itself."""
    if "deletionTimestamp" not in thing["metadata"]:
        return ""
    conditions = thing.get("status", {}).get("conditions") or []
    said = [
        c["message"]
        for c in conditions
        if c.get("type") in ("NamespaceContentRemaining", "NamespaceFinalizersRemaining")
        and c.get("status") == "True"
    ]
    held = [f"finalizer {name}" for name in thing["metadata"].get("finalizers") or []]
    return f" ({'; '.join(held + said)})" if held or said else ""
