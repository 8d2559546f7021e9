"""A workload of the suite in the words of the API (its OpenAPI document) and of the CLI."""

from __future__ import annotations

import shlex
from typing import Any

from validation import names
from validation.quantity import parse

Json = dict[str, Any]
# Keys of a workload's description that this driver states.
STATED = frozenset(
    {
        *("name", "role", "project", "queue", "namespace", "kind", "image", "command"),
        *("gpus", "gpuFraction", "gpuMemory", "cpu", "memory", "environment", "pods", "retries"),
        *("labels", "annotations", "priorityClass"),
    }
)
# Evictions count as failed pods of a Job.
_RETRIES = 20


def refusal(item: Json) -> str:
    """Why this driver cannot state a workload, "" if it can."""
    if item["kind"] != "training":
        return f"{item['name']}: found kind {item['kind']}; driver runai states trainings; use driver kai"
    unknown = sorted(key for key, value in item.items() if key not in STATED and value not in (None, {}, []))
    if unknown:
        return f"{item['name']}: found {', '.join(unknown)}, which driver runai cannot state; use driver kai"
    return ""


def training(item: Json, test: str, project: str, cluster: str) -> Json:
    """Body of `POST /api/v1/workloads/trainings`; `project` and `cluster` are ids."""
    labels = {
        names.MANAGED_BY_LABEL: names.MANAGED_BY,
        names.PART_OF_LABEL: names.PART_OF,
        names.TEST_LABEL: test,
        names.ROLE_LABEL: item["role"],
        **(item.get("labels") or {}),
    }
    pods = item.get("pods") or 1
    spec: Json = {
        "image": item["image"],
        "command": shlex.join(item["command"]),
        "compute": compute(item),
        "labels": _pairs(labels),
        "annotations": _pairs(item.get("annotations") or {}),
        "environmentVariables": _pairs(item.get("environment") or {}),
        "parallelism": pods,
        "completions": pods,
        "backoffLimit": _RETRIES if item.get("retries") is None else item["retries"],
        "preemptibility": _preemptibility(item),
    }
    return {"name": item["name"], "projectId": project, "clusterId": cluster, "spec": spec}


def compute(item: Json) -> Json:
    """GPUs, processors and memory."""
    found: Json = {
        "cpuCoreRequest": parse(item.get("cpu") or "10m"),
        "cpuMemoryRequest": item.get("memory") or "16Mi",
        "cpuMemoryLimit": item.get("memory") or "128Mi",
    }
    if item.get("gpuFraction"):
        portion = {"gpuRequestType": "portion", "gpuPortionRequest": item["gpuFraction"]}
        return {**found, "gpuDevicesRequest": 1, **portion}
    if item.get("gpuMemory"):
        memory = {"gpuRequestType": "memory", "gpuMemoryRequest": f"{item['gpuMemory']}Mi"}
        return {**found, "gpuDevicesRequest": 1, **memory}
    return {**found, "gpuDevicesRequest": item.get("gpus") or 0}


def command_line(item: Json) -> str:
    """The same for people: what they would type."""
    words = ["runai", "training", "submit", item["name"], "-p", item["project"], "-i", item["image"]]
    if item.get("gpuFraction"):
        words += ["-g", "1", "--gpu-request-type", "portion"]
        words += ["--gpu-portion-request", str(item["gpuFraction"])]
    elif item.get("gpuMemory"):
        words += ["-g", "1", "--gpu-request-type", "memory"]
        words += ["--gpu-memory-request", f"{item['gpuMemory']}Mi"]
    elif item.get("gpus"):
        words += ["-g", str(item["gpus"])]
    for name, value in (item.get("environment") or {}).items():
        words += ["-e", f"{name}={value}"]
    words += ["--preemptibility", _preemptibility(item)]
    return f"{shlex.join(words)} --command -- {shlex.join(item['command'])}"


def _preemptibility(item: Json) -> str:
    return "non-preemptible" if item.get("priorityClass") in {"build", "inference"} else "preemptible"


def _pairs(texts: Json) -> list[Json]:
    return [{"name": name, "value": str(value)} for name, value in texts.items()]
