"""A destroy takes away what the kit made, and nothing else; or it says what is in its way. Never a hang.

The tests stand in the order in which they need the stack: most of them bring it up and take it away once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance import inventory, leftovers, operating, peoples
from tests.acceptance.changing import call
from tests.acceptance.commands import YES, pulumi, run
from tests.acceptance.conftest import Json, Kubectl
from tests.acceptance.peoples import config_map, create, wait
from tests.acceptance.test_wrong_on_purpose import in_background
from validation import names
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("I14")]
FOREIGN = "somebodys-shop"
# Above what each takes on a busy machine, and below the five minutes that one deaf Service would take alone.
SOON = 240.0
# First → then, of what `ordered` names.
ORDER = (
    ("project", "queue"),
    ("queue", "shard"),
    ("shard", "config"),
    ("config", "release"),
    ("webhooks", "release"),
    ("release", "namespace"),
)
GROUPS = ("kai.scheduler", "run.ai", "knative.dev", "monitoring.coreos.com")


@pytest.fixture(scope="module", autouse=True)
def whole_before_and_after(outputs: StackOutputs) -> Iterator[None]:
    """The stack as its file says; other tests find it so, too."""
    operating.make_up()
    yield
    operating.make_up()


@pytest.fixture(scope="module")
def homes(outputs: StackOutputs) -> list[str]:
    return [namespace.name for namespace in outputs.namespaces]


def nothing_left(outputs: StackOutputs, kubectl: Kubectl, homes: list[str], crds: bool) -> None:
    """No namespace, webhook, role, finalizer, label of the kit; CRDs only if they were not purged."""
    there = [seen.item for seen in inventory.snapshot(leftovers.cluster_of(outputs)).values()]
    assert [str(item) for item in there if item.namespace in homes or item.name in homes] == []
    ours = [item for item in there if item.labels.get(names.MANAGED_BY_LABEL) == names.MANAGED_BY]
    assert [str(item) for item in ours if item.kind != "CustomResourceDefinition"] == []
    brought = [
        item.name for item in there if item.kind == "CustomResourceDefinition" and item.name.endswith(GROUPS)
    ]
    assert bool(brought) is crds, brought
    for kind in ("clusterroles", "clusterrolebindings", "priorityclasses"):
        made = kubectl("get", kind, "-l", "app.kubernetes.io/managed-by=Helm")["items"]
        assert [item["metadata"]["name"] for item in made] == []
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        assert kubectl("get", kind)["items"] == []
    assert [str(item) for item in there if item.deleting] == []
    assert leftovers.node_labels(kubectl) == []
    peoples.plain_pod(outputs, kubectl, "default")


def test_people_in_the_kits_namespaces_are_named_and_nothing_is_changed(
    outputs: StackOutputs, homes: list[str]
) -> None:
    before = operating.resources()
    create(outputs, config_map("somebodys", homes[-1]))
    try:
        done = operating.destroy()
    finally:
        call(outputs, "delete", "configmap", "somebodys", "-n", homes[-1])
    assert done.code == 1
    assert f"ConfigMap {homes[-1]}/somebodys" in done.text
    assert "WORKLOADS=1" in done.text
    assert "Nothing was changed" in done.text
    assert operating.resources() == before
    assert done.seconds < 30


@pytest.fixture
def foreign(outputs: StackOutputs) -> Iterator[None]:
    """Somebody's namespace with a monitor of their own, and somebody's queue."""
    call(outputs, "create", "namespace", FOREIGN)
    monitor = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {"name": "somebodys", "namespace": FOREIGN},
        "spec": {"selector": {}, "podMetricsEndpoints": []},
    }
    queue = {
        "apiVersion": "scheduling.run.ai/v2",
        "kind": "Queue",
        "metadata": {"name": "somebodys"},
        "spec": {"resources": {}},
    }
    create(outputs, monitor, queue)
    yield
    call(outputs, "delete", "queues.scheduling.run.ai", "somebodys")
    call(outputs, "delete", "namespace", FOREIGN)


@pytest.mark.usefixtures("foreign")
def test_a_purge_refuses_to_delete_objects_of_others() -> None:
    before = operating.resources()
    done = operating.destroy("--purge", "--workloads")
    assert done.code == 1
    assert f"PodMonitor {FOREIGN}/somebodys" in done.text
    assert "Queue somebodys" in done.text
    assert "Nothing was changed" in done.text
    assert operating.resources() == before


def test_an_unreachable_cluster_is_told_within_seconds(outputs: StackOutputs) -> None:
    """The API server's machine stands still: no answer, no refused connection either."""
    node = f"{outputs.context.removeprefix('kind-')}-control-plane"
    assert run("podman", "pause", node).code == 0
    try:
        destroyed, looked = operating.destroy(), run(*operating.DRIFT, timeout=120)
    finally:
        assert run("podman", "unpause", node).code == 0
        wait(lambda: run(*kubectl_ready(outputs)).code == 0, "the API server answers again")
    assert destroyed.code == 1
    assert "does not answer" in destroyed.text
    assert "Nothing was changed" in destroyed.text
    assert destroyed.seconds < 30
    assert looked.code == 2, looked.text
    assert looked.seconds < 30
    assert "could not look" in looked.text


def kubectl_ready(outputs: StackOutputs) -> list[str]:
    where = ["--context", outputs.context, "--kubeconfig", outputs.kubeconfig]
    return ["kubectl", *where, "--request-timeout=5s", "get", "--raw", "/readyz"]


def test_running_workloads_end_first_and_everything_goes_in_order(
    outputs: StackOutputs, kubectl: Kubectl, homes: list[str]
) -> None:
    one, other = outputs.projects[:2]
    create(
        outputs,
        peoples.service(outputs, one.namespace),
        peoples.job(outputs, other.namespace, other.queue),
    )
    for project in (one, other):
        wait(
            lambda where=project.namespace: peoples.running(kubectl, where),  # type: ignore[misc]
            f"a pod in {project.namespace}",
        )
    seen = leftovers.Disappearance(leftovers.cluster_of(outputs), ordered(outputs))
    with in_background(seen.watch):
        done = operating.destroy("--workloads", "--purge")
    assert done.code == 0, done.why()
    assert done.seconds < SOON
    assert set(seen.gone) == set(seen.paths)
    for first, then in ORDER:
        assert seen.gone[first] <= seen.gone[then], f"{first} before {then}: {seen.gone}"
    nothing_left(outputs, kubectl, homes, crds=False)


def ordered(outputs: StackOutputs) -> dict[str, str]:
    """What has to go, and where it is."""
    hooks = "/apis/admissionregistration.k8s.io/v1"
    return {
        "project": f"/api/v1/namespaces/{outputs.projects[0].namespace}",
        "queue": f"{names.QUEUES}/{outputs.projects[0].queue}",
        "shard": "/apis/kai.scheduler/v1/schedulingshards/default",
        "config": "/apis/kai.scheduler/v1/configs/kai-config",
        "webhooks": f"{hooks}/mutatingwebhookconfigurations/mutating-kai-admission",
        "release": "/apis/apps/v1/namespaces/kai-scheduler/deployments/kai-operator",
        "namespace": "/api/v1/namespaces/kai-scheduler",
    }


def test_a_namespace_that_was_there_stays_as_it_was(
    outputs: StackOutputs, kubectl: Kubectl, homes: list[str]
) -> None:
    """Also with Pulumi's own destroy, which is what people know."""
    level = "pod-security.kubernetes.io/warn"
    taken_away()
    call(outputs, "create", "namespace", "monitoring")
    call(outputs, "label", "namespace", "monitoring", "team=somebodys", f"{level}=restricted")
    create(outputs, config_map("somebodys", "monitoring"))
    before = monitoring(kubectl)
    try:
        operating.up()
        during = kubectl("get", "namespace", "monitoring")["metadata"]["labels"]
        assert during["pod-security.kubernetes.io/enforce"] == "restricted"
        assert names.MANAGED_BY_LABEL not in during
        assert operating.drift().code == 0
        pulumi("destroy", *YES).well()
        assert monitoring(kubectl) == before
        # What Pulumi does not know of: labels on nodes, and nobody's CRDs.
        swept = operating.destroy("--purge")
        assert swept.code == 0, swept.text
        rest = [name for name in homes if name != "monitoring"]
        nothing_left(outputs, kubectl, rest, crds=True)
    finally:
        call(outputs, "delete", "namespace", "monitoring")


def taken_away() -> None:
    """Nothing installed, also when the test before this one failed."""
    if operating.resources():
        done = operating.destroy("--workloads", "--purge")
        assert done.code == 0, done.why()


def monitoring(kubectl: Kubectl) -> Json:
    """Everything about the namespace and the ConfigMap that people can see, without times."""
    namespace = kubectl("get", "namespace", "monitoring")["metadata"]
    kept: dict[str, Any] = {
        key: namespace.get(key) for key in ("uid", "labels", "annotations", "finalizers", "ownerReferences")
    }
    return kept | {"config map": kubectl("get", "configmap", "somebodys", "-n", "monitoring")}


def test_a_dead_operator_and_dead_webhooks_hold_nothing_up(
    outputs: StackOutputs, kubectl: Kubectl, homes: list[str]
) -> None:
    """Pods of jobs have a finalizer; taking it off is an update, which a dead webhook would refuse."""
    operating.up()
    project = outputs.projects[0]
    create(outputs, peoples.job(outputs, project.namespace, project.queue))
    wait(lambda: peoples.running(kubectl, project.namespace), "the job runs")
    where = ("-n", "kai-scheduler")
    call(outputs, "scale", "deployment", "kai-operator", "--replicas=0", *where)
    wait(lambda: not operator(kubectl), "the operator is gone")
    call(outputs, "delete", "deployment", "--all", *where, "--wait=false")
    done = operating.destroy("--workloads", "--purge")
    assert done.code == 0, done.why()
    assert "nobody answers it; deleted" in done.text
    assert done.seconds < SOON
    nothing_left(outputs, kubectl, homes, crds=False)


def operator(kubectl: Kubectl) -> list[Json]:
    pods: list[Json] = kubectl("get", "pods", "-n", "kai-scheduler", "-l", "app=kai-operator")["items"]
    return pods


def test_a_namespace_that_is_held_is_named_and_the_next_destroy_goes_on(
    outputs: StackOutputs, kubectl: Kubectl, homes: list[str]
) -> None:
    operating.up()
    held = outputs.projects[1].namespace
    create(outputs, config_map("held", held, finalizers=["example.com/hold"]))
    try:
        done = operating.destroy("--workloads", "--patience", "20")
        assert done.code == 1
        assert f"ConfigMap {held}/held: finalizer example.com/hold" in done.text
        assert done.seconds < SOON
        assert operating.resources(), "what is held is still in the state"
    finally:
        change = json.dumps({"metadata": {"finalizers": None}})
        call(outputs, "patch", "configmap", "held", "-n", held, "--type=merge", "-p", change)
    again = operating.destroy("--workloads")
    assert again.code == 0, again.text[-3000:]
    nothing_left(outputs, kubectl, homes, crds=True)
