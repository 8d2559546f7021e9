"""Workloads end before what they run on goes: Services of Knative, jobs, pods, each within a bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from day2.inventory import Item, of
from day2.kinds import Kinds
from validation.cluster import Cluster

# Seconds that a container may take to end. A Service of Knative asks for as long as a request may take, five
# minutes by default, and a server that does not listen to SIGTERM uses all of it.
GRACE = 20
# Seconds for the node to say that it is done.
_MARGIN = 10
# Deleted in this order, so that nobody makes a pod anew.
_FIRST = ("Service", "Workflow", "CronJob", "Job", "Deployment", "StatefulSet", "ReplicaSet")


class StuckError(RuntimeError):
    """Something does not go; the text names it and who holds it."""


def end(
    cluster: Cluster,
    kinds: Kinds,
    namespaces: Iterable[str],
    objects: Iterable[Item],
    say: Callable[[str], None],
    patience: float,
) -> None:
    """Delete the objects, then every pod of the namespaces, and wait until the pods are gone.

    Raises StuckError after `patience` seconds, ClusterError.
    """
    objects = sorted(objects, key=lambda item: _FIRST.index(item.kind) if item.kind in _FIRST else 99)
    for item in objects:
        if cluster.delete(item.path):
            say(f"deleted {item}")
    namespaces = list(namespaces)
    stop = time.monotonic() + patience
    asked: dict[str, float] = {}
    while pods := _pods(cluster, kinds, namespaces):
        for pod in pods:
            _end(cluster, pod, asked, say)
        if time.monotonic() > stop:
            held = "; ".join(f"{pod} ({', '.join(pod.finalizers) or 'no finalizer'})" for pod in pods)
            raise StuckError(
                f"pods: found {len(pods)} after {patience:g} s, held by {held}; expected none; "
                "look at whoever owns these finalizers"
            )
        time.sleep(1)


def _end(cluster: Cluster, pod: Item, asked: dict[str, float], say: Callable[[str], None]) -> None:
    """Ask once; then do without the node's word, which may be dead, or keep to a grace period of before."""
    now = time.monotonic()
    if pod.path not in asked:
        say(f"ending {pod}, at most {GRACE} s")
        asked[pod.path] = now
        cluster.delete(pod.path, grace_seconds=GRACE)
    elif now > asked[pod.path] + GRACE + _MARGIN and not pod.finalizers:
        say(f"{pod} did not end within {GRACE} s; not waiting for its node any longer")
        # Once more only if it is still there after the same time.
        asked[pod.path] = now
        cluster.delete(pod.path, grace_seconds=0)


def _pods(cluster: Cluster, kinds: Kinds, namespaces: list[str]) -> list[Item]:
    kind = kinds.find("v1", "Pod")
    return [pod for name in namespaces for pod in of(cluster, kind, name)] if kind else []
