"""Changes by hand are found wherever they are made, named by field, and put back by `up --refresh`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from tests.acceptance import operating
from tests.acceptance.changing import call
from tests.acceptance.commands import Done, run
from tests.acceptance.conftest import Json, Kubectl
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("I14")]
PSA = "pod-security.kubernetes.io/enforce"
WRONG_IMAGE = "ghcr.io/nvidia/kai-scheduler/operator:v0.0.1"
CANARY = base64.b64encode(b"a key that nobody may see").decode()
KNATIVE = ("-n", "knative-serving")
FRONT = ("-n", "haproxy-controller")


def edit(outputs: StackOutputs, kind: str, name: str, change: Json, *where: str) -> None:
    call(outputs, "patch", kind, name, *where, "--type=merge", "-p", json.dumps(change))


def replace(outputs: StackOutputs, kind: str, name: str, path: str, value: object, *where: str) -> None:
    """One field, as people do it who edit the object."""
    change = json.dumps([{"op": "replace", "path": path, "value": value}])
    call(outputs, "patch", kind, name, *where, "--type=json", "-p", change)


@pytest.fixture(scope="module")
def clean() -> None:
    """The stack as its file says, and no drift at all."""
    operating.up("--refresh")
    found = operating.drift()
    assert found.code == 0, found.text
    assert "no drift" in found.text


@pytest.fixture(scope="module")
def changed(clean: None, outputs: StackOutputs, kubectl: Kubectl) -> Iterator[dict[str, Json]]:
    """Everything that somebody might do by hand, done at once; what Helm made is given back at the end."""
    project = outputs.projects[0]
    release = {
        "operator": kubectl("get", "deployment", "kai-operator", "-n", "kai-scheduler"),
        "role": kubectl("get", "clusterrole", "kai-podgrouper"),
        "class": kubectl("get", "priorityclass", "build"),
    }
    edit(outputs, "namespace", project.namespace, {"metadata": {"labels": {PSA: None}}})
    edit(outputs, "queues.scheduling.run.ai", project.queue, {"spec": {"resources": {"gpu": {"quota": 0.5}}}})
    edit(outputs, "configmap", "config-network", {"data": {"default-external-scheme": "http"}}, *KNATIVE)
    edit(outputs, "configmap", "config-autoscaler", {"data": {"stable-window": "70s"}}, *KNATIVE)
    replace(outputs, "service", "haproxy", "/spec/ports/0/targetPort", 8081, *FRONT)
    replace(outputs, "clusterrole", "fake-gpu", "/rules/1/verbs", ["get"])
    edit(outputs, "secret", "runai-cluster-inference-tls-secret", {"data": {"tls.key": CANARY}}, *KNATIVE)
    call(outputs, "delete", "service", "haproxy-metrics", *FRONT)
    image = "/spec/template/spec/containers/0/image"
    replace(outputs, "deployment", "kai-operator", image, WRONG_IMAGE, "-n", "kai-scheduler")
    replace(outputs, "clusterrole", "kai-podgrouper", "/rules/0/verbs", ["get"])
    call(outputs, "delete", "priorityclass", "build")
    call(outputs, "create", "configmap", "somebodys", "-n", "kai-scheduler")
    yield release
    containers = release["operator"]["spec"]["template"]["spec"]["containers"]
    replace(outputs, "deployment", "kai-operator", image, containers[0]["image"], "-n", "kai-scheduler")
    replace(outputs, "clusterrole", "kai-podgrouper", "/rules", release["role"]["rules"])
    again = {key: value for key, value in release["class"].items() if key != "metadata"}
    kept = {key: release["class"]["metadata"][key] for key in ("name", "labels", "annotations")}
    call(outputs, "create", "-f", "-", body=again | {"metadata": kept})
    edit(outputs, "configmap", "config-autoscaler", {"data": {"stable-window": None}}, *KNATIVE)
    call(outputs, "delete", "configmap", "somebodys", "-n", "kai-scheduler")
    back = operating.drift()
    assert back.code == 0, back.text


@pytest.fixture(scope="module")
def found(changed: dict[str, Json]) -> Done:
    return operating.drift()


def test_drift_is_told_by_the_exit_code_and_nothing_else_is_drift(found: Done) -> None:
    assert found.code == 1, found.text
    assert len(found.lines("drift: ")) == 11, found.text
    assert not found.lines("could not look"), found.text


def expected_lines(outputs: StackOutputs) -> dict[str, str]:
    """What each change has to be called: object, field, expected, found."""
    project = outputs.projects[0]
    return {
        "label": f'Namespace {project.namespace} metadata.labels["{PSA}"]: expected baseline, found nothing',
        "quota": f"Queue {project.queue} spec.resources.gpu.quota: "
        f"expected {project.gpu.deserved:g}, found 0.5",
        "config map": "ConfigMap knative-serving/config-network data.default-external-scheme: "
        "expected https, found http",
        "added key": "ConfigMap knative-serving/config-autoscaler data.stable-window: "
        "expected nothing, found 70s",
        "service": "Service haproxy-controller/haproxy spec.ports[http].targetPort: "
        "expected 8080, found 8081",
        "cluster role": 'ClusterRole fake-gpu rules[1].verbs: expected ["get", "list", "watch"]',
        "missing": "Service haproxy-controller/haproxy-metrics: expected it to be there, found nothing",
        "image in the release": "Deployment kai-scheduler/kai-operator [release kai-scheduler] "
        "spec.template.spec.containers[operator].image: "
        "expected ghcr.io/nvidia/kai-scheduler/operator:v0.12.0, found " + WRONG_IMAGE,
        "role in the release": "ClusterRole kai-podgrouper [release kai-scheduler] rules",
        "missing in the release": "PriorityClass build [release kai-scheduler]: "
        "expected it to be there, found nothing",
    }


@pytest.mark.parametrize(
    "change",
    [
        "label",
        "quota",
        "config map",
        "added key",
        "service",
        "cluster role",
        "missing",
        "image in the release",
        "role in the release",
        "missing in the release",
    ],
)
def test_a_change_is_named_with_object_field_expected_and_found(
    found: Done, outputs: StackOutputs, change: str
) -> None:
    text = expected_lines(outputs)[change]
    assert any(line.startswith(f"drift: {text}") for line in found.lines("drift: ")), found.text


def test_who_changed_it_is_told(found: Done) -> None:
    assert "(written by kubectl-patch)" in next(
        line for line in found.lines("drift: ") if "config-network" in line
    )


def test_a_secret_is_compared_and_not_shown(found: Done) -> None:
    line = next(line for line in found.lines("drift: ") if "inference-tls-secret" in line)
    assert "expected digest" in line
    assert "found digest" in line
    assert CANARY[:8] not in found.text
    assert "BEGIN" not in found.text
    assert "LS0t" not in found.text, "base64 of a PEM"


def test_what_nobody_stated_is_a_note(found: Done) -> None:
    assert any("ConfigMap kai-scheduler/somebodys" in line for line in found.lines("note: "))


def test_up_refresh_states_the_stacks_own_objects_again(
    changed: dict[str, Json], found: Done, kubectl: Kubectl, outputs: StackOutputs
) -> None:
    namespace = outputs.projects[0].namespace
    assert PSA not in kubectl("get", "namespace", namespace)["metadata"]["labels"]
    operating.up("--refresh")
    assert kubectl("get", "namespace", namespace)["metadata"]["labels"][PSA] == "baseline"
    left = operating.drift().lines("drift: ")
    # A release is Helm's: its own objects come back with its next upgrade. What nobody stated stays.
    assert [line for line in left if "[release " not in line and "stable-window" not in line] == []
    assert len(left) == 4, left


def test_a_state_that_cannot_be_read_is_no_clean_cluster() -> None:
    done = run("env", "PULUMI_BACKEND_URL=file:///nonexistent", *operating.DRIFT, timeout=60)
    assert done.code == 2, done.text
    assert "could not look" in done.text
