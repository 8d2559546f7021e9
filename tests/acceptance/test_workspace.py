"""V6's verdicts fail where the workspace is open, tells its token, has another GPU, or cannot be reached."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import exists, when
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import changed_queue, in_background, patch
from tests.acceptance.varied import play
from validation.settings import StackOutputs

Json = dict[str, Any]
NAME = "runai-kit-jupyter"
UUID = "GPU-00000000-0000-0000-0000-000000000000"
SERVE = "exec jupyter lab --no-browser --ServerApp.ip=0.0.0.0 --ServerApp.root_dir=/workspace"
# A GPU that is not the pod's, and the token as an argument that everybody on the node can read.
CARELESS = f"""mkdir -p /tmp/bin
printf '#!/bin/sh\\necho "GPU 0: NVIDIA (UUID: {UUID})"\\n' > /tmp/bin/nvidia-smi
chmod +x /tmp/bin/nvidia-smi
export PATH=/tmp/bin:$PATH
{SERVE} --IdentityProvider.token=$(cat $JUPYTER_TOKEN_FILE)"""


@pytest.mark.req("V6")
def test_the_report_proves_it_live(report: Json) -> None:
    mine = {c["id"].partition(".")[2]: c for c in report["checks"] if c["requirement"] == "V6"}
    assert {c["verdict"] for c in mine.values()} == {"pass"}
    assert [name for name in mine["page"]["evidence"] if name.endswith(".png")]


@pytest.mark.req("V6")
@pytest.mark.negative(
    "jupyter_workspace.closed",
    "jupyter_workspace.page",
    "jupyter_workspace.gpu",
    "jupyter_workspace.computation",
    "jupyter_workspace.stopped",
)
def test_a_workspace_that_asks_for_no_token_fails(outputs: StackOutputs, tmp_path: Path) -> None:
    variables = {"jupyter_workspace_arguments": ["--IdentityProvider.token="]}
    failed, checks = play("jupyter_workspace", outputs, tmp_path, variables)
    # Such a server takes no token either, and asks those who send one for the cookie of a form.
    assert failed == {"closed", "page", "gpu", "computation", "stopped"}
    assert "interface" in checks["closed"]["reason"]
    assert "loginAsked" in checks["page"]["reason"]
    assert checks["cleanup"]["verdict"] == "pass"


@pytest.mark.req("V6")
@pytest.mark.negative("jupyter_workspace.gpu", "jupyter_workspace.secrecy")
def test_another_gpu_and_a_token_in_the_arguments_fail(outputs: StackOutputs, tmp_path: Path) -> None:
    variables = {"jupyter_workspace_command": ["bash", "-c", CARELESS]}
    failed, checks = play("jupyter_workspace", outputs, tmp_path, variables)
    assert failed == {"gpu", "secrecy"}
    assert UUID in str(checks["gpu"]["observed"])
    assert "command lines" in checks["secrecy"]["reason"]


@pytest.mark.req("V6")
@pytest.mark.negative(
    "jupyter_workspace.address",
    "jupyter_workspace.closed",
    "jupyter_workspace.gpu",
    "jupyter_workspace.computation",
    "jupyter_workspace.stopped",
    "jupyter_workspace.page",
)
def test_a_workspace_whose_service_leads_nowhere_fails(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    where = ("-n", outputs.projects[0].namespace)

    def lead_astray(_: Any) -> None:
        selector = {"runai-kit.io/workload": "somebody-else"}
        patch(kubectl, "service", NAME, {"spec": {"selector": selector}}, *where)

    def work(stop: threading.Event) -> None:
        when(stop, exists(kubectl, "services", NAME, *where), lead_astray)

    with in_background(work):
        failed, checks = play("jupyter_workspace", outputs, tmp_path, {}, timeoutSeconds=20)
    assert failed == {"address", "closed", "gpu", "computation", "stopped", "page"}
    assert checks["running"]["verdict"] == "pass"
    assert "503" in checks["address"]["reason"]


@pytest.mark.req("V6")
@pytest.mark.negative("jupyter_workspace.running", "jupyter_workspace.address")
def test_a_workspace_outside_the_quota_stays_pending_and_says_why(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    project = outputs.projects[0]
    share = {"quota": 0, "limit": project.gpu.limit, "overQuotaWeight": project.gpu.overQuotaWeight}
    with changed_queue(kubectl, project.queue, share):
        failed, checks = play("jupyter_workspace", outputs, tmp_path, {}, timeoutSeconds=15)
    assert {"running", "address"} <= failed
    assert "running: expected 1, found 0" in checks["running"]["reason"]
    assert checks["cleanup"]["verdict"] == "pass"
