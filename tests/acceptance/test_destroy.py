"""A destroy that must not go on says why before anything is changed. Never a hang."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance import operating
from tests.acceptance.changing import call
from tests.acceptance.commands import run
from tests.acceptance.peoples import config_map, create, wait
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("I14")]
FOREIGN = "somebodys-shop"


@pytest.fixture(scope="module", autouse=True)
def whole_before() -> None:
    """The stack as its file says."""
    operating.make_up()


def test_people_in_the_kits_namespaces_are_named_and_nothing_is_changed(
    outputs: StackOutputs,
) -> None:
    before, home = operating.resources(), outputs.namespaces[-1].name
    create(outputs, config_map("somebodys", home))
    try:
        done = operating.destroy()
    finally:
        call(outputs, "delete", "configmap", "somebodys", "-n", home)
    assert done.code == 1
    assert f"ConfigMap {home}/somebodys" in done.text
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
