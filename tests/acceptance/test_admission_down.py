"""KAI's webhooks fail closed; with their server gone, only the kit's project namespaces may notice."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.acceptance.conftest import Kubectl
from validation.settings import StackOutputs

NAME = "runai-kit-foreign-pod"
SCHEDULER = "kai-scheduler"
Apply = Callable[[str], subprocess.CompletedProcess[str]]


def pod(image: str) -> dict[str, Any]:
    """A pod that Pod Security `restricted` lets in."""
    context = {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {"name": "main", "image": image, "command": ["sleep", "60"], "securityContext": context}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": NAME}, "spec": spec}


@pytest.fixture
def apply(outputs: StackOutputs) -> Iterator[Apply]:
    """Creates the pod in a namespace, and removes it afterwards."""
    base = ["kubectl", "--context", outputs.context, "--kubeconfig", outputs.kubeconfig]
    used: list[str] = []

    def call(namespace: str) -> subprocess.CompletedProcess[str]:
        used.append(namespace)
        text = json.dumps(pod(outputs.images["cuda"]))
        command = [*base, "-n", namespace, "create", "-f", "-"]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)

    try:
        yield call
    finally:
        for namespace in used:
            remove = [*base, "-n", namespace, "delete", "pod", NAME, "--ignore-not-found", "--wait=true"]
            subprocess.run(remove, check=True, timeout=60)


@pytest.fixture
def no_admission(kubectl: Kubectl) -> Iterator[None]:
    """The operator first, or it brings admission back."""
    scale(kubectl, "kai-operator", 0)
    scale(kubectl, "admission", 0)
    try:
        yield
    finally:
        scale(kubectl, "admission", 1)
        scale(kubectl, "kai-operator", 1)


def scale(kubectl: Kubectl, deployment: str, replicas: int) -> None:
    kubectl("scale", "deployment", deployment, "-n", SCHEDULER, f"--replicas={replicas}", "-o", "json")
    until(
        lambda: pods(kubectl, deployment) == (replicas, replicas), f"{deployment} has {replicas} ready pods"
    )


def pods(kubectl: Kubectl, deployment: str) -> tuple[int, int]:
    """How many pods there are, and how many of them are ready."""
    found = kubectl("get", "deployment", deployment, "-n", SCHEDULER)["status"]
    return found.get("replicas", 0), found.get("readyReplicas", 0)


def until(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"expected within {seconds} s: {what}"
        time.sleep(0.5)


@pytest.mark.req("I2")
@pytest.mark.usefixtures("no_admission")
def test_a_foreign_pod_starts_and_a_projects_pod_is_refused(
    kubectl: Kubectl, outputs: StackOutputs, apply: Apply
) -> None:
    foreign = apply("default")
    assert foreign.returncode == 0, foreign.stderr

    def running() -> bool:
        found = kubectl("get", "pod", NAME, "-n", "default")
        return bool(found["status"].get("phase") == "Running")

    until(running, "the pod in namespace default runs")
    refused = apply(outputs.projects[0].namespace)
    assert refused.returncode != 0
    assert "kai-admission" in refused.stderr or "failed calling webhook" in refused.stderr
