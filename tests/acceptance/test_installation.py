"""What `pulumi up` promises beside the objects themselves: a second run changes nothing, webhooks keep to
their namespaces, and a label that somebody removed comes back."""

from __future__ import annotations

import json
import subprocess

import pytest

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
def test_no_passphrase_in_the_exported_state() -> None:
    done = subprocess.run(
        ["pulumi", "stack", "export", "--stack", "local"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert (ROOT / "local" / "passphrase").read_text().strip() not in done.stdout
