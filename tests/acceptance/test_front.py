"""What answers from outside: right hosts are served, wrong ones told so, and certificates can be renewed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import call, run
from tests.acceptance.commands import pulumi
from tests.acceptance.conftest import ROOT, Kubectl
from tests.acceptance.traffic import traffic
from tests.acceptance.upgrading import up
from validation import https, names
from validation.cluster import Cluster
from validation.foreign import foreign_ca
from validation.ingress import Ingress, find
from validation.outputs import from_stack
from validation.settings import StackOutputs

Json = dict[str, Any]
NAME = "runai-kit-front"
SERVER = (
    "from http.server import *; ThreadingHTTPServer(('', 8080), SimpleHTTPRequestHandler).serve_forever()"
)


@pytest.fixture
def ingress(outputs: StackOutputs) -> Ingress:
    """Where the stack answers from outside."""
    return find(Cluster(outputs.kubeconfig, outputs.context), outputs)


@pytest.fixture
def workspace(outputs: StackOutputs) -> Iterator[str]:
    """A Service in a project with a pod behind it, as a workspace has it; its URL."""
    namespace = outputs.projects[0].namespace
    labels = {names.PART_OF_LABEL: names.PART_OF, names.TEST_LABEL: "front"}
    metadata = {"name": NAME, "namespace": namespace, "labels": labels}
    container = {"name": "main", "image": outputs.images["seed"], "command": ["python3", "-c", SERVER]}
    probe = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "containers": [{**container, "readinessProbe": probe, "workingDir": "/tmp"}],
            "terminationGracePeriodSeconds": 0,
        },
    }
    ports = [{"port": 80, "targetPort": 8080}]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"selector": labels, "ports": ports},
    }
    try:
        for thing in (pod, service):
            call(outputs, "apply", "-f", "-", body=thing)
        call(outputs, "wait", f"pod/{NAME}", "-n", namespace, "--for=condition=Ready", "--timeout=60s")
        yield f"https://{NAME}-{namespace}.{outputs.workspaces.domain}/"
    finally:
        call(outputs, "delete", f"pod/{NAME}", f"service/{NAME}", "-n", namespace, "--ignore-not-found")


@pytest.mark.req("I7")
def test_a_workspace_answers_at_its_host_and_at_no_other(
    ingress: Ingress, workspace: str, outputs: StackOutputs
) -> None:
    assert https.request(ingress, workspace).status == 200
    namespace, domain = outputs.projects[0].namespace, outputs.workspaces.domain
    gone = https.request(ingress, f"https://gone-{namespace}.{domain}/")
    assert (gone.status, gone.text) == (
        503,
        f"workspaces: there is no Service gone in namespace {namespace}\n",
    )
    # The API server's own Service has a name and a namespace, too, but not of a project.
    for host in (f"kubernetes-default.{domain}", f"kourier-knative-serving.{domain}"):
        other = https.request(ingress, f"https://{host}/")
        assert (other.status, other.text) == (503, "no service answers at this host\n")


@pytest.mark.req("I7")
def test_a_name_that_the_certificate_does_not_cover_is_refused(
    ingress: Ingress, workspace: str, outputs: StackOutputs
) -> None:
    with pytest.raises(https.CertificateError):
        https.request(ingress, f"https://a.b.{outputs.workspaces.domain}/")
    with pytest.raises(https.CertificateError):
        https.request(Ingress(ingress.address, ingress.port, foreign_ca()), workspace)


@pytest.mark.req("V1")
@pytest.mark.negative("preflight.tls")
def test_preflight_fails_when_clients_would_not_trust_the_ingress(
    outputs: StackOutputs, tmp_path: Path
) -> None:
    right = run("preflight", outputs, tmp_path, timeout=180)
    assert right["preflight.tls"]["verdict"] == "pass", right["preflight.tls"]
    wrong = run("preflight", outputs, tmp_path, timeout=180, tls={"ca": foreign_ca()})
    assert wrong["preflight.tls"]["verdict"] == "fail"
    assert "certificate was not accepted" in json.dumps(wrong["preflight.tls"]["observed"])


@pytest.mark.req("I7", "I14")
def test_new_certificates_come_without_a_failed_request(
    ingress: Ingress,
    workspace: str,
    outputs: StackOutputs,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The old CA is trusted until the roll-out is done, the new one is from then on."""
    try:
        with traffic(ingress, workspace) as seen:
            new = up(tmp_path, tls={"source": "generated", "rotation": "another"})
        renewed = from_stack("local", ROOT)["tls"]["ca"]
        assert renewed != outputs.tls.ca
        assert https.request(Ingress(ingress.address, ingress.port, renewed), workspace).status == 200
        with pytest.raises(https.CertificateError):
            https.request(ingress, workspace)
        pulumi("preview", "--config-file", str(new), "--expect-no-changes").well()
    finally:
        up(tmp_path)
    with capsys.disabled():
        print(f"\nnew certificates: {seen}")
    # Requests to the new pods show their certificate: unknown to who still trusts the old CA.
    assert seen.statuses["200"] > 0
    assert all("certificate was not accepted" in text for text in seen.failed), seen.failed


@pytest.mark.req("I13", "I7")
def test_private_keys_are_nowhere_in_the_state(kubectl: Kubectl, outputs: StackOutputs) -> None:
    place = ("-n", outputs.ingress.namespace)
    data = kubectl("get", "secret", outputs.workspaces.tlsSecret, *place)["data"]
    key = base64.b64decode(data["tls.key"]).decode()
    inner = "".join(key.splitlines()[1:-1])
    state = pulumi("stack", "export").well().out
    assert "runai-cluster-domain-star-tls-secret" in state
    for text in (data["tls.key"], inner, inner[:64], "PRIVATE KEY"):
        assert text not in state
