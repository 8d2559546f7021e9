"""From nothing to nothing: each installation is killed at moments of its own, and taken away in its own way.

Whatever interrupts it, the next `make up` makes it whole; what is destroyed is what the kit made, in order,
and nothing else.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from local import paths
from tests.acceptance import interrupting, leftovers, operating, peoples
from tests.acceptance.changing import call
from tests.acceptance.commands import YES, pulumi, pulumi_command, run
from tests.acceptance.conftest import Json, Kubectl
from tests.acceptance.interrupting import NOTHING
from tests.acceptance.killing import Moment, end_at, install
from tests.acceptance.leftovers import nothing_left
from tests.acceptance.peoples import config_map, create, wait
from tests.acceptance.test_wrong_on_purpose import in_background
from validation import names
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("I14")]
Install = Callable[..., None]
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
DESTROY = pulumi_command("destroy", *YES)
KAI_GOES = Moment("KAI's removal", r"Release kai-scheduler deleting", 1)


@pytest.fixture(scope="module", autouse=True)
def whole_afterwards() -> Iterator[None]:
    """Other tests find everything installed."""
    yield
    operating.make_up()


@pytest.fixture
def installed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Install:
    """Installs from nothing, ended at moments; shows what each run left."""

    def now(*moments: Moment) -> None:
        rows = install(tmp_path, *moments)
        with capsys.disabled():
            print("", *rows, sep="\n  ")

    return now


@pytest.fixture
def homes(outputs: StackOutputs) -> list[str]:
    return [namespace.name for namespace in outputs.namespaces]


def test_running_workloads_end_first_and_everything_goes_in_order(
    installed: Install, outputs: StackOutputs, kubectl: Kubectl, homes: list[str]
) -> None:
    installed(
        Moment("before anything is declared", r"Updating \(local\)"),
        Moment("KAI in Helm", r"Release kai-scheduler creating", 4),
    )
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
    installed: Install, outputs: StackOutputs, kubectl: Kubectl, homes: list[str]
) -> None:
    """Also with Pulumi's own destroy, which is what people know."""
    level = "pod-security.kubernetes.io/warn"
    interrupting.nothing()
    call(outputs, "create", "namespace", "monitoring")
    call(outputs, "label", "namespace", "monitoring", "team=somebodys", f"{level}=restricted")
    create(outputs, config_map("somebodys", "monitoring"))
    before = monitoring(kubectl)
    try:
        installed(
            Moment("namespaces", r"Namespace knative-serving created"),
            Moment("configuration of Knative", r"ConfigMap config-\w+ creating"),
        )
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


def monitoring(kubectl: Kubectl) -> Json:
    """Everything about the namespace and the ConfigMap that people can see, without times."""
    namespace = kubectl("get", "namespace", "monitoring")["metadata"]
    kept: dict[str, Any] = {
        key: namespace.get(key) for key in ("uid", "labels", "annotations", "finalizers", "ownerReferences")
    }
    return kept | {"config map": kubectl("get", "configmap", "somebodys", "-n", "monitoring")}


def test_a_dead_operator_and_dead_webhooks_hold_nothing_up(
    installed: Install, outputs: StackOutputs, kubectl: Kubectl, homes: list[str]
) -> None:
    """Pods of jobs have a finalizer; taking it off is an update, which a dead webhook would refuse."""
    installed(
        Moment("CRDs of monitoring in Helm", r"Release prometheus-operator-crds creating", 1),
        Moment("gate of KAI's Config", r"Config kai-config creating"),
    )
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
    installed: Install, outputs: StackOutputs, kubectl: Kubectl, homes: list[str]
) -> None:
    installed(
        Moment("CRDs of Knative", r"CustomResourceDefinition \S+ creating"),
        Moment("queues", r"Queue queue-engineering creating"),
    )
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


def test_a_killed_recovery_and_a_killed_destroy_are_done_again(installed: Install, tmp_path: Path) -> None:
    installed(
        Moment("HAProxy", r"Deployment haproxy creating"),
        Moment("the recovery itself", r"clearing [0-9]+ operations", 1),
        Moment("Knative's controllers", r"Deployment webhook creating", 2, signal.SIGINT),
    )
    before = interrupting.left().resources
    log = tmp_path / "destroy.log"
    # One becomes an installation again, the other is ended by the next destroy.
    end_at(log, log, KAI_GOES, DESTROY)
    left = interrupting.left()
    assert left.locked
    assert left.resources < before
    interrupting.recover()
    interrupting.unchanged()
    assert interrupting.left().resources == before
    end_at(log, log, KAI_GOES, DESTROY)
    assert interrupting.left().locked
    told = run("make", "--no-print-directory", "heal", "ENV=local").well()
    assert "ready for the next run" in told.text
    operating.destroy().well()
    assert interrupting.left() == NOTHING


def test_a_half_written_checkpoint_goes_back_to_the_one_before() -> None:
    """As after a power cut: Pulumi itself replaces the file as a whole."""
    operating.make_up()
    checkpoint = paths.PULUMI_STATE / ".pulumi" / "stacks" / "runai-kit" / "local.json"
    whole = checkpoint.read_bytes()
    checkpoint.write_bytes(whole[: len(whole) // 2])
    told = run(sys.executable, "-m", "day2.healing", "local").well()
    assert "does not read, going back" in told.text
    interrupting.recover()
    interrupting.unchanged()
