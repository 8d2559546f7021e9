"""V8: GPUs per queue and requests, as Prometheus tells and as pods and answers tell."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from validation import https, names, prometheus
from validation.ingress import Ingress
from validation.observe import capacity, pods, queues
from validation.observe.gpus import mode_of
from validation.observe.snapshot import Snapshot
from validation.patience import until
from validation.quantity import parse, tidy

Json = dict[str, Any]
TEST = "monitoring"
DEPARTMENT = "kit-monitoring"
REQUESTS = "kn_serving_invocation_duration_seconds_count"


def seconds(at: Snapshot) -> float:
    """How long to wait for Prometheus to know: some scrapes, and what KAI and Knative need before."""
    return 30 + 6 * at.outputs.monitoring.scrapeSeconds


def start(at: Snapshot) -> Json:
    """Free GPUs and all GPUs by node, how many may be used, and the driver mode of the GPU nodes."""
    offered = at.capacity
    modes = {mode_of(node) for node in capacity.gpu_nodes(at.nodes)}
    return {
        "free": {name: gpus - offered.held.get(name, 0) for name, gpus in offered.allocatable.items()},
        "budget": offered.free,
        "nodes": gpus_of_nodes(at),
        "mode": modes.pop() if len(modes) == 1 else "mixed",
        "epoch": time.time(),
    }


def gpus_of_nodes(at: Snapshot) -> dict[str, int]:
    """All devices by node, unhealthy ones and those of cordoned nodes included; 0 for nodes without."""

    def held(node: Json) -> int:
        offered = parse((node["status"].get("capacity") or {}).get(names.GPU_RESOURCE))
        return int(offered) // capacity.replicas(node)

    return {node["metadata"]["name"]: held(node) for node in at.nodes}


def allocation(at: Snapshot, mine: list[str], timeout: float) -> Json:
    """GPUs per queue: the sum over its pods, and KAI's metric; waits until they agree for every queue."""

    def look() -> Json:
        now = Snapshot(at.cluster, at.outputs)
        expression = "max by (queue_name) (kai_queue_allocated_gpus)"
        told = prometheus.values(at.cluster, at.outputs, expression, "queue_name")
        held = in_pods(now)
        both = {name: {"pods": gpus, "prometheus": number(told.get(name))} for name, gpus in held.items()}
        return {
            "different": {name: both[name] for name in held if not _same(held[name], told.get(name))},
            "queues": {name: both[name] for name in mine if name in both},
        }

    found, _ = until(look, lambda seen: not seen["different"], timeout)
    return found


def history(at: Snapshot, since: float) -> dict[str, list[tuple[float, float]]]:
    """What Prometheus saw of the test's queues from a moment on: (epoch, GPUs) by line of a picture."""
    step, now = max(at.outputs.monitoring.scrapeSeconds, 1.0), time.time()
    found: dict[str, list[tuple[float, float]]] = {}
    for words, metric in (("hold", "kai_queue_allocated_gpus"), ("ask for", "kit_queue_requested_gpus")):
        expression = f'max by (queue_name) ({metric}{{queue_name=~"{DEPARTMENT}-.+"}})'
        for series in prometheus.query_range(at.cluster, at.outputs, expression, since, now, step):
            name = f"{series['metric']['queue_name']}: pods {words}"
            found[name] = [(float(moment), float(value)) for moment, value in series["values"]]
    return {name: points for name, points in sorted(found.items()) if any(value for _, value in points)}


def _same(gpus: float, told: float | None) -> bool:
    # KAI's metric has four digits behind the point.
    return told is not None and abs(gpus - told) < 0.001


def in_pods(at: Snapshot) -> dict[str, float]:
    """GPUs by queue as the pods ask for them; a parent holds what its children hold.

    Without the queues of pods that ask for GPU memory: what share that is, each version of KAI rounds in its
    own way. The suite's own ask for none.
    """
    held = dict.fromkeys(at.queues, 0.0)
    rounded = set()
    for pod in at.pods:
        if not (pods.active(pod) and pods.node(pod)):
            continue
        name = queues.queue_of(pod, at.groups, at.outputs.queueLabelKey)
        for queue in queues.ancestors(name, at.queues):
            held[queue["metadata"]["name"]] += pods.gpus(pod) + pods.fraction(pod)
            rounded |= {queue["metadata"]["name"]} if pods.memory(pod) else set()
    return {name: tidy(gpus) for name, gpus in held.items() if name not in rounded}


def requests(
    at: Snapshot, where: Ingress, url: str, namespace: str, service: str, plan: Mapping[str, tuple[str, int]]
) -> Json:
    """Send requests, and see by how much Knative's counters grow; `plan` is path and number by status.

    One of each kind goes before: a counter is there from its first request on. Looks until the sum is what
    was sent, and once more two scrapes later: what is counted twice comes late.
    """
    _send(where, url, {status: (path, 1) for status, (path, _) in plan.items()})
    until(lambda: _counted(at, namespace, service), lambda seen: len(seen) == len(plan), seconds(at))
    time.sleep(2 * at.outputs.monitoring.scrapeSeconds)
    before = _counted(at, namespace, service)
    sent = _send(where, url, plan)

    def look() -> Json:
        now = _counted(at, namespace, service)
        grown = {status: tidy(count - before.get(status, 0)) for status, count in now.items()}
        return {status: count for status, count in grown.items() if count}

    _, waited = until(look, lambda seen: sum(seen.values()) >= sum(sent.values()), seconds(at))
    time.sleep(2 * at.outputs.monitoring.scrapeSeconds)
    return {"sent": sent, "counted": look(), "before": before, "waited": waited, "url": url}


def _send(where: Ingress, url: str, plan: Mapping[str, tuple[str, int]]) -> dict[str, int]:
    """Number of answers by status."""
    answers: dict[str, int] = {}
    for path, count in plan.values():
        for _ in range(count):
            status = str(https.request(where, url.rstrip("/") + path, timeout=60).status)
            answers[status] = answers.get(status, 0) + 1
    return answers


def _counted(at: Snapshot, namespace: str, service: str) -> dict[str, float]:
    selector = f'{{namespace="{namespace}", ksvc="{service}"}}'
    label = "http_response_status_code"
    return prometheus.values(at.cluster, at.outputs, f"sum by ({label}) ({REQUESTS}{selector})", label)


def number(value: float | None) -> int | float | None:
    """A sample's value, None without a sample."""
    return None if value is None else tidy(value)
