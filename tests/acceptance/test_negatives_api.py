"""An API server that refuses, is slow, or gives no answer: a check that could not look is not a pass.

The change is in the cluster (a user with fewer rights) or on the way to it (a real proxy); every run says
within its bound what was wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.broken import Broken, Json, until
from tests.acceptance.hurried import QUICK
from tests.acceptance.proving import Wrong, prove
from tests.acceptance.slow_api import slow
from tests.acceptance.test_wrong_on_purpose import in_background
from validation import names
from validation.cluster import Cluster
from validation.settings import StackOutputs

pytestmark = [pytest.mark.req("V1"), pytest.mark.usefixtures("unchanged")]
RBAC = "/apis/rbac.authorization.k8s.io/v1"
USER = "somebody"


def rules(api: Cluster) -> list[Json]:
    """All rights but two: to make Queues, and to look at StorageClasses."""
    groups = ["", *(g["name"] for g in api.get("/apis")["groups"])]
    spared = ("scheduling.run.ai", "storage.k8s.io")
    rest = [group for group in groups if group not in spared]
    look = ["get", "list", "watch", "patch"]
    return [
        {"apiGroups": rest, "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": ["scheduling.run.ai"], "resources": ["podgroups", "bindrequests"], "verbs": ["*"]},
        {"apiGroups": ["scheduling.run.ai"], "resources": ["queues"], "verbs": look},
    ]


@pytest.fixture
def limited(outputs: StackOutputs, tmp_path: Path) -> Iterator[str]:
    """A kubeconfig of a user with these rights."""
    with Broken(outputs) as wrong:
        meta = {"metadata": {"name": USER}}
        accounts = names.in_namespace("/api/v1/serviceaccounts", "default")
        account = wrong.made(accounts, {"apiVersion": "v1", "kind": "ServiceAccount", **meta})
        kind = {"apiVersion": "rbac.authorization.k8s.io/v1", **meta}
        wrong.made(f"{RBAC}/clusterroles", {**kind, "kind": "ClusterRole", "rules": rules(wrong.api)})
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": USER}
        subject = {"kind": "ServiceAccount", "name": USER, "namespace": "default"}
        binding = {**kind, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]}
        wrong.made(f"{RBAC}/clusterrolebindings", binding)
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        request = {**asked, "spec": {"expirationSeconds": 900}}
        token = wrong.api.create(f"{account}/token", request)["status"]["token"]
        config: dict[str, Any] = yaml.safe_load(Path(outputs.kubeconfig).read_text())
        config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
        file = tmp_path / "kubeconfig"
        file.touch(mode=0o600)
        file.write_text(yaml.safe_dump(config))
        yield str(file)


@pytest.mark.negative("preflight.access")
def test_missing_rights_are_named_and_no_test_begins(
    outputs: StackOutputs, limited: str, tmp_path: Path
) -> None:
    proof = prove(outputs, tmp_path / "run", tags="V2", variables=QUICK, kubeconfig=limited)
    forbidden = f'User "system:serviceaccount:default:{USER}" cannot list resource "storageclasses"'
    shown = (
        Wrong("preflight.access", ("create queues.scheduling.run.ai", "delete queues.scheduling.run.ai")),
        Wrong("preflight.storage_class", ("403", forbidden)),
        Wrong("preflight.webhooks", ("queue: expected answers", 'cannot create resource "queues"')),
    )
    proof.shows(*shown)
    assert proof.failed() == {one.check for one in shown}
    assert "refused because of preflight.access" in proof.reason("fractional_gpu.running")
    assert proof.seconds <= 180


def test_a_slow_api_server_changes_no_verdict(outputs: StackOutputs, tmp_path: Path) -> None:
    """A tenth of a second more for each piece of an answer, as across a bad line."""
    with slow(outputs, tmp_path, delay=0.1) as (proxy, kubeconfig):
        proof = prove(outputs, tmp_path / "run", "preflight", variables=QUICK, kubeconfig=kubeconfig)
        assert proxy.connections > 0
    assert proof.failed() == set(), proof.said
    assert proof.checks["preflight.blast_radius"]["verdict"] == "pass"
    assert proof.seconds <= 240


@pytest.mark.negative("preflight.access")
def test_an_api_server_that_gives_no_answer_is_told_and_does_not_hang(
    outputs: StackOutputs, tmp_path: Path
) -> None:
    with slow(outputs, tmp_path) as (proxy, kubeconfig):
        proxy.silent.set()
        proof = prove(outputs, tmp_path / "run", tags="V2", variables=QUICK, kubeconfig=kubeconfig)
    proof.shows(Wrong("preflight.access", ("API server", "does not answer", "timed out"), 60))
    assert proof.failed() == {check for check in proof.checks if check.startswith("preflight.")}
    assert "does not answer" in proof.reason("fractional_gpu.running")
    assert proof.seconds <= 240


@pytest.mark.req("V2", "V11")
@pytest.mark.negative("fractional_gpu.running")
def test_an_api_server_that_falls_silent_in_the_middle_ends_the_test_and_leaves_nothing(
    outputs: StackOutputs, tmp_path: Path
) -> None:
    api = Cluster(outputs.kubeconfig, outputs.context)

    def halves() -> list[Json]:
        return api.items(names.PODS, labelSelector=f"{names.TEST_LABEL}=fractional_gpu")

    with slow(outputs, tmp_path) as (proxy, kubeconfig):

        def fall_silent(stop: threading.Event) -> None:
            until(lambda: bool(halves()), "the test has a pod", seconds=90)
            proxy.silent.set()
            stop.wait(33)
            proxy.silent.clear()

        with in_background(fall_silent):
            proof = prove(outputs, tmp_path / "run", tags="V2", variables=QUICK, kubeconfig=kubeconfig)
    proof.shows(Wrong("fractional_gpu.running", ("did not run", "does not answer"), 45))
    assert proof.checks["fractional_gpu.cleanup"]["verdict"] == "pass"
    assert proof.seconds <= 120
