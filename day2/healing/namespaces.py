"""Namespaces that the next run counts on: gone where they are on their way, there where the stack made them.

Where a pod with a long grace still ends, Kubernetes looks at a deleted namespace again after half of that
grace: five minutes with Knative's activator. What is put into such a namespace meanwhile is refused.
"""

from __future__ import annotations

import time

from day2.healing.command import HealError, Json, say
from day2.healing.releases import NAMESPACE_TYPE, known
from validation import names
from validation.cluster import Cluster

PATIENCE = 330.0
# The stack's own, and those of others that it labels: what it put into one that is gone went with it.
TYPES = (NAMESPACE_TYPE, f"{NAMESPACE_TYPE}Patch")


def missing(cluster: Cluster, state: Json, patience: float = PATIENCE, pause: float = 2.0) -> bool:
    """Whether a namespace of the state is not there, once none is being deleted any more.

    Waits up to `patience` seconds; HealError names what is still there then, and what it waits for.
    """
    expected = {item["inputs"]["metadata"]["name"] for item in known(state) if item["type"] in TYPES}
    end, told = time.monotonic() + patience, False
    while True:
        found = list(cluster.items(names.NAMESPACES))
        leaving = [item for item in found if _leaves(item, expected)]
        if not leaving:
            break
        shown = ", ".join(_name(item) for item in leaving)
        if time.monotonic() > end:
            raise HealError(
                f"namespaces: found {shown} still being deleted after {patience:g} s "
                f"({'; '.join(_held(leaving)) or 'nothing tells why'}); expected them to be gone; "
                f"take away what holds them and try again"
            )
        if not told:
            say(f"namespaces {shown}: being deleted, waiting up to {patience:g} s until they are gone")
            told = True
        time.sleep(pause)
    gone = expected - {_name(item) for item in found}
    for name in sorted(gone):
        say(f"namespace {name}: the stack has it and the cluster has not; refreshing")
    return bool(gone)


def _leaves(item: Json, expected: set[str]) -> bool:
    ours = (item["metadata"].get("labels") or {}).get(names.MANAGED_BY_LABEL) == names.MANAGED_BY
    return "deletionTimestamp" in item["metadata"] and (ours or _name(item) in expected)


def _held(leaving: list[Json]) -> list[str]:
    """What the namespace controller says is in the way."""
    return [
        f"{_name(item)}: {condition.get('message', '')}"
        for item in leaving
        for condition in (item.get("status") or {}).get("conditions") or []
        if condition["status"] == "True"
    ]


def _name(item: Json) -> str:
    return str(item["metadata"]["name"])
