"""V9 gang, as the PodGroup, the pods and the watch of every pod show it."""

from __future__ import annotations

import time
from typing import Any

from validation.observe import nodes, pods, queues
from validation.observe.snapshot import Snapshot
from validation.observe.watched import Watched, ever_ran, ever_scheduled

Json = dict[str, Any]
TEST, ROLE = "gang", "gang"


def waits(at: Snapshot, watched: Watched, hostnames: list[str]) -> Json:
    """While one GPU is missing: nothing of the gang was ever given a node."""
    mine = nodes.of_role(at, TEST, ROLE)
    lives = watched.lives(TEST, ROLE)
    why = _reasons(at, mine)
    return {
        "watched": len(lives),
        "everScheduled": ever_scheduled(lives),
        "everRan": ever_ran(lives),
        "free": nodes.free_now(at, hostnames),
        "reasons": [reason["reason"] for reason in why],
        "messages": list(dict.fromkeys(reason["message"] for reason in why)),
        "watchedSeconds": round(time.time() - min((life.created for life in lives), default=time.time()), 1),
        "uids": _uids(mine),
    }


def starts(at: Snapshot, watched: Watched, uids: dict[str, str]) -> Json:
    """After the missing GPU came free: the same pods run, all of them."""
    mine = [pod for pod in nodes.of_role(at, TEST, ROLE) if pods.running(pod)]
    began = [life.running for life in watched.pods_only(TEST, ROLE, mine) if life.running is not None]
    groups = [group for pod in mine if (group := queues.group_of(pod, at.groups))]
    return {
        "running": len(mine),
        "gpusEach": sorted(map(pods.gpus, mine)),
        "nodes": nodes.hostnames_of(at, mine),
        "samePods": bool(mine) and _uids(mine) == uids,
        "apartSeconds": round(max(began) - min(began), 3) if len(began) == len(mine) > 1 else None,
        "minMember": groups[0].get("spec", {}).get("minMember") if groups else None,
    }


def _uids(mine: list[Json]) -> dict[str, str]:
    return {pods.name(pod): pod["metadata"]["uid"] for pod in mine}


def _reasons(at: Snapshot, mine: list[Json]) -> list[Json]:
    """Of the gang's PodGroup, once, whichever pod leads to it."""
    groups = {pods.name(group): group for pod in mine if (group := queues.group_of(pod, at.groups))}
    return [reason for group in groups.values() for reason in queues.reasons(group)]
