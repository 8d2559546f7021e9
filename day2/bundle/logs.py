"""Logs of the kit's own pods, bounded; workloads' logs are the users' and come only when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from day2.bundle.piece import Piece
from validation.cluster import Cluster

Json = dict[str, Any]
LINES = 2000
BYTES = 400_000
# The API server cuts what is newest, so more is asked for than is kept.
_ASKED = 10 * BYTES


def pieces(cluster: Cluster, pods: Iterable[Json]) -> Iterator[Piece]:
    """Each container's log, and that of its last life when it was restarted."""
    for pod in pods:
        meta, status = pod["metadata"], pod.get("status") or {}
        states = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
        for state in states:
            base = f"namespaces/{meta['namespace']}/logs/{meta['name']}.{state['name']}"
            yield _of(cluster, f"{base}.log", meta, state["name"], {})
            if state.get("restartCount"):
                yield _of(cluster, f"{base}.previous.log", meta, state["name"], {"previous": "true"})


def _of(cluster: Cluster, file: str, meta: Json, container: str, more: dict[str, str]) -> Piece:
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log"
    bounds = {"tailLines": LINES, "limitBytes": _ASKED, "timestamps": "true"}
    what = f"the last {LINES} lines, {BYTES // 1000} kB at most"
    return Piece(file, what, lambda: cluster.text(path, container=container, **bounds, **more)[-BYTES:])
