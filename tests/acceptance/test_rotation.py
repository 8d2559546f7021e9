"""Credentials of installed parts that nobody renews are renewed as docs/security-credentials.md says."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.changing import call
from tests.acceptance.conftest import Kubectl
from validation.cluster import Cluster, ClusterError
from validation.settings import StackOutputs

pytestmark = pytest.mark.req("I2", "I14")
Json = dict[str, Any]
KAI = "kai-scheduler"
SECRET = "kai-admission-webhook-tls-secret"


def until(what: str, condition: Callable[[], bool], seconds: float = 120) -> None:
    pause = threading.Event()
    for _ in range(int(seconds)):
        if condition():
            return
        pause.wait(1)
    raise AssertionError(f"not within {seconds:g} s: {what}")


def test_kais_admission_certificate_is_renewed_as_described(kubectl: Kubectl, outputs: StackOutputs) -> None:
    def certificate() -> str:
        found = kubectl("get", "secrets", "-n", KAI)["items"]
        return next((s["data"]["tls.crt"] for s in found if s["metadata"]["name"] == SECRET), "")

    def trusted() -> set[str]:
        kinds = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
        hooks = [
            hook for kind in kinds for item in kubectl("get", kind)["items"] for hook in item["webhooks"]
        ]
        mine = [
            h["clientConfig"]
            for h in hooks
            if h["clientConfig"].get("service", {}).get("name") == "admission"
        ]
        return {config["caBundle"] for config in mine}

    before = certificate()
    assert before
    assert trusted() == {before}
    call(outputs, "delete", "secret", SECRET, "--namespace", KAI)
    until("the operator made another certificate", lambda: certificate() not in ("", before))
    until("the webhooks trust it", lambda: trusted() == {certificate()})
    call(outputs, "rollout", "restart", "deployment", "admission", "--namespace", KAI)
    call(outputs, "rollout", "status", "deployment", "admission", "--namespace", KAI, "--timeout=50s")
    cluster = Cluster(outputs.kubeconfig, outputs.context)
    until("admission answers with it", lambda: admitted(cluster, outputs), 60)


def admitted(cluster: Cluster, outputs: StackOutputs) -> bool:
    """Whether KAI's admission takes a pod of a project; nothing is stored."""
    project = outputs.projects[0]
    container = {
        "name": "c",
        "image": "a:1",
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    security = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    pod: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "runai-kit-rotation",
            "labels": {outputs.queueLabelKey: project.queue},
            "annotations": {"gpu-fraction": "0.5"},
        },
        "spec": {
            "schedulerName": outputs.schedulerName,
            "containers": [container],
            "securityContext": security,
        },
    }
    try:
        answer = cluster.create(f"/api/v1/namespaces/{project.namespace}/pods", pod, dry_run=True)
    except ClusterError:
        return False
    # What its webhook adds to a pod with a part of a GPU: proof that it was asked.
    return "GPU_PORTION" in str(answer["spec"]["containers"])
