"""Phases of workloads, as their pods and Knative Services have them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def of_pods(pods: list[Any]) -> tuple[str, str]:
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


def of_service(status: Json, pods: list[Any]) -> tuple[str, str]:
    """Phase and message of an inference: one that is ready runs, also without a pod."""
    ready: Json = next((c for c in status.get("conditions") or [] if c["type"] == "Ready"), {})
    if ready.get("status") == "True":
        return "Running", ""
    phase, message = of_pods(pods)
    if ready.get("status") == "False" and phase not in ("Pending", "Failed"):
        return "Degraded", f"{ready.get('reason', '')}: {ready.get('message', '')}"
    # A server that loads its model has a running pod, and does not serve.
    return ("Initializing", message) if phase == "Running" else (phase, message)
