"""V9 time-based fair share: usage and shares as a shard's own scheduler says, and who runs how many jobs."""

from __future__ import annotations

import re
import time
from typing import Any

from validation import names
from validation.cluster import ClusterError
from validation.expect.fair_share_over_time import LITTLE, MUCH
from validation.observe import nodes, pods
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
TEST = "fair_share_over_time"
PORT = 8080
SAMPLE = re.compile(r"^(?P<name>kai_queue_(?:gpu_usage|fair_share_gpu))\{(?P<labels>[^}]*)\} (?P<value>\S+)$")


def jobs(at: Snapshot, used: str, spared: str) -> Json:
    """Running jobs of both queues, in this order."""
    return {"jobs": [_running(at, used), _running(at, spared)]}


def usage(at: Snapshot, shard_name: str, used: str, spared: str, seconds: float) -> Json:
    """Part of the pool that each queue had in the window, as the shard's scheduler read it in Prometheus.

    Looks until the first had most and the second little, or until `seconds` have passed.
    """
    deadline = time.monotonic() + seconds
    while True:
        found = metrics(at, shard_name)["kai_queue_gpu_usage"]
        done = found.get(used, 0.0) >= MUCH and found.get(spared, 0.0) <= LITTLE
        if done or time.monotonic() > deadline:
            return {used: found.get(used, 0.0), spared: found.get(spared, 0.0)}
        time.sleep(1)


def shifted(at: Snapshot, shard_name: str, used: str, spared: str) -> Json:
    """The split after both asked again."""
    share = metrics(at, shard_name)["kai_queue_fair_share_gpu"]
    a, b = share.get(used), share.get(spared)
    return {
        used: _running(at, used),
        spared: _running(at, spared),
        "fairShares": {used: a, spared: b},
        "fairShareFavours": None if a is None or b is None or a == b else (used if a > b else spared),
    }


def metrics(at: Snapshot, shard_name: str) -> dict[str, dict[str, float]]:
    """Metric -> queue -> value from the running scheduler of a shard; empty while it does not answer."""
    found: dict[str, dict[str, float]] = {"kai_queue_gpu_usage": {}, "kai_queue_fair_share_gpu": {}}
    name = f"{at.outputs.schedulerName}-{shard_name}"
    for pod in at.pods:
        if pods.label(pod, "app") == name and pods.running(pod):
            base = names.in_namespace(names.PODS, pod["metadata"]["namespace"])
            try:
                text = at.cluster.text(f"{base}/{pod['metadata']['name']}:{PORT}/proxy/metrics")
            except ClusterError:
                continue
            for metric, queue, value in parse(text):
                found[metric][queue] = round(value, 4)
    return found


def parse(text: str) -> list[tuple[str, str, float]]:
    """(metric, queue, value) of the lines that matter, in Prometheus' text format."""
    found = []
    for line in text.splitlines():
        if seen := SAMPLE.match(line):
            labels = dict(re.findall(r'(\w+)="([^"]*)"', seen["labels"]))
            found.append((seen["name"], labels.get("queue_name", ""), float(seen["value"])))
    return found


def _running(at: Snapshot, queue: str) -> int:
    return sum(1 for pod in nodes.of_role(at, TEST, queue) if pods.running(pod))
