"""What `pulumi up` promises beside the objects themselves: a second run changes nothing, webhooks keep to
their namespaces, and a label that somebody removed comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.acceptance.commands import YES, pulumi
from tests.acceptance.conftest import ROOT, Kubectl
from validation.settings import StackOutputs


@pytest.mark.req("I14")
def test_a_second_up_plans_nothing() -> None:
    assert "unchanged" in pulumi("preview", "--refresh", "--expect-no-changes").well().out


@pytest.mark.req("I1", "I14")
def test_a_removed_pod_security_label_is_shown_and_put_back(kubectl: Kubectl, outputs: StackOutputs) -> None:
    namespace = outputs.projects[0].namespace
    key = "pod-security.kubernetes.io/enforce"
    level = kubectl("get", "namespace", namespace)["metadata"]["labels"][key]
    change = json.dumps({"metadata": {"labels": {key: None}}})
    kubectl("patch", "namespace", namespace, "--type=merge", "-p", change, "-o", "json")
    assert pulumi("preview", "--refresh", "--expect-no-changes").code != 0
    pulumi("up", "--refresh", *YES).well()
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
    state = pulumi("stack", "export", "--show-secrets").well().out
    assert "scheduling.run.ai" in state
    files = [path for path in (ROOT / "build" / "report").rglob("*") if path.is_file()]
    assert files
    for key in keys:
        assert key not in state
        assert [path.name for path in files if key in path.read_text(errors="replace")] == []
