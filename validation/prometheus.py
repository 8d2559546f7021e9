"""Prometheus of the stack, asked through the API server's service proxy; ClusterError without an answer."""

from __future__ import annotations

import re
from typing import Any

from validation import names
from validation.cluster import Cluster, ClusterError
from validation.settings import StackOutputs

Json = dict[str, Any]
DURATION = re.compile(r"(\d+)(ms|s|m|h|d)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def base(outputs: StackOutputs) -> str:
    """Path of its API."""
    where = outputs.monitoring
    if not where.enabled:
        raise ClusterError(
            "monitoring is off in this stack: set runai-kit:monitoring.enabled and run `pulumi up`"
        )
    services = names.in_namespace(names.SERVICES, where.namespace)
    return f"{services}/{where.prometheusService}:{where.prometheusPort}/proxy/api/v1"


def query(cluster: Cluster, outputs: StackOutputs, expression: str) -> list[Json]:
    """Samples of an instant query: [{"metric": labels, "value": [time, text]}, …]."""
    answer = cluster.get(f"{base(outputs)}/query", query=expression)
    if answer.get("status") != "success" or answer["data"]["resultType"] != "vector":
        raise ClusterError(f"Prometheus: {expression}: expected a vector, found {str(answer)[:200]}")
    return list(answer["data"]["result"])


def query_range(
    cluster: Cluster, outputs: StackOutputs, expression: str, start: float, end: float, step: float
) -> list[Json]:
    """Series between two times (epoch): [{"metric": labels, "values": [[time, text], …]}, …]."""
    given = {"query": expression, "start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step:g}"}
    answer = cluster.get(f"{base(outputs)}/query_range", **given)
    return list(answer["data"]["result"])


def targets(cluster: Cluster, outputs: StackOutputs) -> list[Json]:
    """Active targets with scrapePool, health, lastError, scrapeUrl and labels."""
    return list(cluster.get(f"{base(outputs)}/targets", state="active")["data"]["activeTargets"])


def rules(cluster: Cluster, outputs: StackOutputs) -> list[Json]:
    """Alerting rules of all groups: name, query, duration, health, lastError, state, alerts."""
    groups = cluster.get(f"{base(outputs)}/rules", type="alert")["data"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


def values(cluster: Cluster, outputs: StackOutputs, expression: str, label: str) -> dict[str, float]:
    """Value by the value of one label."""
    found = query(cluster, outputs, expression)
    return {sample["metric"].get(label, ""): float(sample["value"][1]) for sample in found}


def scrape_seconds(cluster: Cluster, outputs: StackOutputs, namespace: str) -> float:
    """Longest scrape interval of the targets in a namespace; 0 without such targets or without monitoring."""
    if not outputs.monitoring.enabled:
        return 0.0
    mine = [t for t in targets(cluster, outputs) if t["labels"].get("namespace") == namespace]
    return max((seconds(t["scrapeInterval"]) for t in mine), default=0.0)


def seconds(duration: str) -> float:
    """Seconds of a Prometheus duration such as 1m30s; ValueError for anything else."""
    parts = DURATION.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise ValueError(f"not a Prometheus duration: {duration!r}")
    return sum(int(number) * SECONDS[unit] for number, unit in parts)
