"""What the control plane tells of workloads, in the columns of the CLI's lists."""

from __future__ import annotations

from typing import Any

from validation.quantity import tidy

Json = dict[str, Any]


def row(workload: Json) -> Json:
    """Type, status, running of requested pods (`1/1`, inference `1/0-1`) and GPUs of a workload."""
    asked = workload.get("requestedPods") or {}
    number = asked.get("number")
    of = str(number) if number is not None else f"{asked.get('min')}-{asked.get('max')}"
    gpus = (workload.get("allocatedResources") or {}).get("gpu") or 0
    return {
        "type": workload["type"],
        "status": workload["phase"],
        "pods": f"{workload['runningPods']}/{of}",
        "gpus": tidy(gpus),
    }


def table(workloads: list[Json]) -> Json:
    """Rows by name with addresses, and the control plane's own reasons."""
    return {
        "workloads": {w["name"]: {**row(w), "url": url(w)} for w in workloads},
        "why": [f"{w['name']}: {w['phaseMessage']}" for w in workloads if w.get("phaseMessage")],
    }


def url(workload: Json) -> str:
    """Where a workload answers, "" when nothing is told; never composed."""
    return str(next(iter(workload.get("urls") or []), ""))
