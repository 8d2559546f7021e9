"""The cluster behind the double: trainings become Jobs that the installed KAI Scheduler schedules.

The product does this with controllers of its own; here a project's queue and namespace have to be there.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from kubernetes import client
from kubernetes.config import kube_config as _kube_config

Json = dict[str, Any]
# How the double finds a workload's objects again.
WORKLOAD = "double.runai-kit.io/workload"
_SECONDS = (5, 20)
# The client's stubs leave these functions untyped.
_files: Any = _kube_config


class Behind:
    """One cluster, by kubeconfig and context. Raises kubernetes.client.ApiException."""

    def __init__(self, kubeconfig: Path, context: str) -> None:
        configuration = client.Configuration()
        _files.load_kube_config(str(kubeconfig), context, client_configuration=configuration)
        api = client.ApiClient(configuration)
        self._batch, self._core = client.BatchV1Api(api), client.CoreV1Api(api)

    def submit(self, workload: Json) -> None:
        """Make the Job of a training."""
        body: Any = job(workload)
        self._batch.create_namespaced_job(workload["namespace"], body, _request_timeout=_SECONDS)

    def remove(self, workload: Json) -> None:
        """Ask for the removal of the Job and its pods."""
        self._batch.delete_namespaced_job(
            workload["name"],
            workload["namespace"],
            propagation_policy="Background",
            grace_period_seconds=0,
            _request_timeout=_SECONDS,
        )

    def pods(self, workload: Json) -> list[Any]:
        """The workload's pods as they are."""
        listed = self._core.list_namespaced_pod(
            workload["namespace"], label_selector=f"{WORKLOAD}={workload['id']}", _request_timeout=_SECONDS
        )
        return list(listed.items)


def job(workload: Json) -> Json:
    """A training as a Job; labels and annotations of the spec go to the pods, too."""
    spec: Json = workload["spec"]
    compute: Json = spec.get("compute") or {}
    labels = {item["name"]: item["value"] for item in spec.get("labels") or []}
    labels |= {
        WORKLOAD: workload["id"],
        "kai.scheduler/queue": workload["projectName"],
        "priorityClassName": "build" if spec.get("preemptibility") == "non-preemptible" else "train",
    }
    annotations = {item["name"]: item["value"] for item in spec.get("annotations") or []}
    limits = {"memory": compute.get("cpuMemoryLimit") or "256Mi"}
    devices = compute.get("gpuDevicesRequest") or 0
    if devices and compute.get("gpuPortionRequest"):
        annotations["gpu-fraction"] = str(compute["gpuPortionRequest"])
    elif devices and compute.get("gpuMemoryRequest"):
        annotations["gpu-memory"] = compute["gpuMemoryRequest"].removesuffix("Mi")
    elif devices:
        limits["nvidia.com/gpu"] = str(devices)
    requests = {"cpu": str(compute.get("cpuCoreRequest") or "10m")}
    requests["memory"] = compute.get("cpuMemoryRequest") or "16Mi"
    container = {
        "name": "main",
        "image": spec["image"],
        "env": [{"name": i["name"], "value": i["value"]} for i in spec.get("environmentVariables") or []],
        "resources": {"requests": requests, "limits": limits},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    } | _command(spec)
    pod = {
        "schedulerName": "kai-scheduler",
        "restartPolicy": spec.get("restartPolicy") or "Never",
        "terminationGracePeriodSeconds": 2,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": workload["name"], "labels": labels},
        "spec": {
            "backoffLimit": spec.get("backoffLimit") or 0,
            "parallelism": spec.get("parallelism") or 1,
            "completions": spec.get("completions") or 1,
            "template": {"metadata": {"labels": labels, "annotations": annotations}, "spec": pod},
        },
    }


def _command(spec: Json) -> Json:
    """The API's texts are lines of a shell: quoted words, no pipes."""
    found = {"command": spec.get("command"), "args": spec.get("args")}
    return {key: shlex.split(text) for key, text in found.items() if text}


def phase(pods: list[Any]) -> tuple[str, str]:
    """Phase and message of a workload with these pods."""
    if not pods:
        return "Creating", ""
    phases = {pod.status.phase for pod in pods}
    for pod in pods:
        for condition in pod.status.conditions or []:
            if condition.type == "PodScheduled" and condition.status == "False":
                return "Pending", condition.message or condition.reason or ""
    if "Failed" in phases:
        return "Failed", ""
    if phases == {"Succeeded"}:
        return "Completed", ""
    return ("Running", "") if "Running" in phases else ("Initializing", "")
