"""What `pulumi up` promises beside the objects themselves: a second run changes nothing, webhooks keep to
their namespaces, and a label that somebody removed comes back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.acceptance.conftest import ROOT, Kubectl
from validation.settings import StackOutputs


def pulumi(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["pulumi", *words, "--stack", "local", "--non-interactive"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400)


@pytest.mark.req("I14")
def test_a_second_up_plans_nothing() -> None:
    done = pulumi("preview", "--refresh", "--expect-no-changes")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "unchanged" in done.stdout


@pytest.mark.req("I1", "I14")
def test_a_removed_pod_security_label_is_shown_and_put_back(kubectl: Kubectl, outputs: StackOutputs) -> None:
    namespace = outputs.projects[0].namespace
    key = "pod-security.kubernetes.io/enforce"
    level = kubectl("get", "namespace", namespace)["metadata"]["labels"][key]
    change = json.dumps({"metadata": {"labels": {key: None}}})
    kubectl("patch", "namespace", namespace, "--type=merge", "-p", change, "-o", "json")
    shown = pulumi("preview", "--refresh", "--expect-no-changes")
    assert shown.returncode != 0
    done = pulumi("up", "--refresh", "--yes", "--skip-preview")
    assert done.returncode == 0, done.stdout[-2000:]
    assert kubectl("get", "namespace", namespace)["metadata"]["labels"][key] == level


@pytest.mark.req("I2")
def test_webhooks_on_pods_see_only_the_kits_projects(kubectl: Kubectl) -> None:
    seen = 0
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        for item in kubectl("get", kind)["items"]:
            for hook in item["webhooks"]:
                on_pods = any("pods" in rule["resources"] for rule in hook["rules"])
                if "kai" in item["metadata"]["name"] and on_pods:
                    seen += 1
                    assert hook["namespaceSelector"].get("matchLabels"), item["metadata"]["name"]
    assert seen >= 2


@pytest.mark.req("I13")
def test_no_credential_of_the_cluster_is_in_state_or_report(outputs: StackOutputs) -> None:
    users = yaml.safe_load(Path(outputs.kubeconfig).read_text())["users"]
    keys = [user["user"]["client-key-data"] for user in users]
    command = ["pulumi", "stack", "export", "--stack", "local", "--show-secrets"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "scheduling.run.ai" in done.stdout
    files = [path for path in (ROOT / "build" / "report").rglob("*") if path.is_file()]
    assert files
    for key in keys:
        assert key not in done.stdout
        assert [path.name for path in files if key in path.read_text(errors="replace")] == []
