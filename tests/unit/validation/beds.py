"""Beds of GPU nodes, pods on them, and a sampler's file, for the tests of scheduling."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.unit.validation.double import Double, node, pod, reason, thing
from validation import names
from validation.expect import node_pools as expect_pools
from validation.expect.nodes import Bed, GpuNode
from validation.observe import (
    nodes,
)
from validation.observe.watched import Watched

Json = dict[str, Any]


TWO = Bed((GpuNode("w1", "w1", 4, 4), GpuNode("w2", "w2", 4, 4)), 8)


KEY = "kai.scheduler/node-pool"
ONE = Bed((GpuNode("w1", "w1", 8, 8),), 8)


def workers(*gpus: int, **labels: str) -> Double:
    cluster = Double()
    for number, count in enumerate(gpus, 1):
        cluster.add(names.NODES, node(f"w{number}", count, labels={nodes.HOSTNAME: f"w{number}", **labels}))
    return cluster


class Seen:
    """A sampler's file, line by line."""

    def __init__(self, folder: Path, test: str) -> None:
        self.file = folder / "timeline.jsonl"
        self.file.write_text("")
        self.test = test

    def line(self, t: float, name: str, role: str, phase: str = "Pending", **more: Any) -> Seen:
        scheduled = "2026-11-30T10:00:00Z" if more.pop("scheduled", phase == "Running") else None
        line = {
            "kind": "pod",
            "t": t,
            "type": "MODIFIED",
            "name": f"runai-team-a/{name}",
            "uid": f"uid-{name}",
            "test": self.test,
            "role": role,
            "queue": more.pop("queue", ""),
            "phase": phase,
            "deleting": more.pop("deleting", False),
            "api": {"scheduled": scheduled},
        }
        with self.file.open("a") as stream:
            stream.write(json.dumps(line) + "\n")
        return self

    @property
    def watched(self) -> Watched:
        return Watched(self.file)


def pinned(name: str, on: str, gpus: int, test: str, role: str) -> Json:
    return pod(f"runai-kit-{name}", on=on, gpus=gpus, test=test, role=role)


def waiting_gang(test: str, role: str, count: int, why: str, message: str = "") -> tuple[list[Json], Json]:
    """Pods of one PodGroup of their own, and that group."""
    pods_ = []
    for number in range(1, count + 1):
        one = pod(f"runai-kit-{role}-{number}", on=None, gpus=1, phase="Pending", test=test, role=role)
        one["metadata"]["annotations"][names.POD_GROUP_ANNOTATION] = f"pg-runai-kit-{role}"
        pods_.append(one)
    status = {"schedulingConditions": [reason(why, message=message)]}
    of_gang = thing(f"pg-runai-kit-{role}", "runai-team-a", spec={"minMember": count}, status=status)
    return pods_, of_gang


def pooled() -> Double:
    cluster = Double()
    pool = {KEY: expect_pools.POOL, nodes.HOSTNAME: "w1"}
    cluster.add(names.NODES, node("w1", 4, labels=pool), node("w2", 4, labels={nodes.HOSTNAME: "w2"}))
    cluster.add(names.SHARDS, thing(expect_pools.POOL, spec={"partitionLabelValue": expect_pools.POOL}))
    ready = {"status": {"readyReplicas": 1}}
    scheduler = thing(f"kai-scheduler-{expect_pools.POOL}", "kai-scheduler", **ready)
    return cluster.add(names.DEPLOYMENTS, scheduler)
