"""V14 in both directions: the combined state against a wrong quota, and without Prometheus.

Each change is taken back whatever happens. Waiting is cut short by outputs with a lower time-out.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.acceptance.changing import run
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import changed_queue, failed, patch
from validation.settings import StackOutputs

pytestmark = pytest.mark.usefixtures("looked_at")


@pytest.mark.req("V14")
@pytest.mark.negative("combined_state.workloads", "combined_state.queues")
def test_a_lower_limit_fails_the_combined_state(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    project = next(item for item in outputs.projects if item.gpu.limit > item.gpu.deserved > 0)
    wrong = {"quota": project.gpu.deserved, "limit": project.gpu.limit - 1, "overQuotaWeight": 1}
    with changed_queue(kubectl, project.queue, wrong):
        checks = run("combined_state", outputs, tmp_path)
    assert {"combined_state.workloads", "combined_state.queues"} <= failed(checks)
    assert checks["combined_state.cleanup"]["verdict"] == "pass"


@pytest.mark.req("V14")
@pytest.mark.negative("combined_state.prometheus")
def test_a_prometheus_that_is_gone_fails_its_check_alone(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    where = ("-n", outputs.monitoring.namespace)
    (instance,) = kubectl("get", "prometheuses.monitoring.coreos.com", *where)["items"]
    name, replicas = instance["metadata"]["name"], instance["spec"].get("replicas", 1)
    try:
        patch(kubectl, "prometheuses.monitoring.coreos.com", name, {"spec": {"replicas": 0}}, *where)
        checks = run("combined_state", outputs, tmp_path)
    finally:
        patch(kubectl, "prometheuses.monitoring.coreos.com", name, {"spec": {"replicas": replicas}}, *where)
        until_ready(kubectl, f"prometheus-{name}-0", *where)
    mine_failed = {check for check in failed(checks) if check.startswith("combined_state.")}
    assert mine_failed == {"combined_state.prometheus"}


def until_ready(kubectl: Kubectl, pod: str, *where: str, seconds: int = 90) -> None:
    pause = threading.Event()
    for _ in range(seconds):
        for found in kubectl("get", "pods", *where)["items"]:
            state = {c["type"]: c["status"] for c in found["status"].get("conditions", [])}
            if found["metadata"]["name"] == pod and state.get("Ready") == "True":
                return
        pause.wait(1)
    raise AssertionError(f"{pod} is not ready within {seconds} s")
