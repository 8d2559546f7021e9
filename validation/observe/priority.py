"""V9 priority, as Queue status, pods and the watch show it."""

from __future__ import annotations

from typing import Any

from validation.expect.priority import QUEUE
from validation.observe import nodes, pods, queues, teams
from validation.observe.snapshot import Snapshot
from validation.observe.watched import Watched, evicted

Json = dict[str, Any]
TEST = "priority"


def fill(at: Snapshot) -> Json:
    """Trains alone."""
    return {
        "allocated": queues.allocated(at.queues.get(QUEUE)),
        "nonPreemptible": queues.allocated_non_preemptible(at.queues.get(QUEUE)),
        "trains": len(_running(at, "train")),
    }


def preempts(at: Snapshot, watched: Watched, since: float) -> Json:
    """After the build came at `since` (Unix s): who had to go."""
    gone = evicted(watched.lives(TEST, "train", "build"), since)
    builds = _running(at, "build")
    return {
        "builds": len(builds),
        "evictedRoles": [life.role for life in gone],
        "trains": len(_running(at, "train")),
        "allocated": queues.allocated(at.queues.get(QUEUE)),
        "nonPreemptible": queues.allocated_non_preemptible(at.queues.get(QUEUE)),
        "order": [f"+{(life.deleting or 0) - since:.3f} s {life.name}" for life in gone],
        "uids": {pods.name(pod): pod["metadata"]["uid"] for pod in builds},
    }


def protected(at: Snapshot, watched: Watched, uids: dict[str, str], since: float) -> Json:
    """After one train more at `since` (Unix s): nobody had to go, it waits."""
    builds = _running(at, "build")
    waiting = [pod for pod in nodes.of_role(at, TEST, "train") if not pods.node(pod)]
    late = [pod for pod in nodes.of_role(at, TEST, "late-train") if not pods.node(pod)]
    lives = watched.lives(TEST, "train", "build", "late-train")
    return {
        "sameBuilds": {pods.name(pod): pod["metadata"]["uid"] for pod in builds} == uids,
        "restarts": sum(map(pods.restarts, builds)),
        "waitingTrains": len(waiting) + len(late),
        "evictedAfter": [life.name for life in evicted(lives, since)],
    }


def quota(at: Snapshot) -> Json:
    """One build more, though the queue has room below its limit."""
    held = queues.allocated(at.queues.get(QUEUE))
    limit = queues.resources(at.queues.get(QUEUE) or {}, "gpu")["limit"]
    return {**teams.pending(at, TEST, "late-build"), "room": limit - held}


def _running(at: Snapshot, role: str) -> list[Json]:
    return [pod for pod in nodes.of_role(at, TEST, role) if pods.running(pod)]
