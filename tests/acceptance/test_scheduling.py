"""V9 in both directions: gangs, queues, nodes and plain pods are changed while a test looks at them.

Each change is taken back whatever happens. Waiting is cut short by outputs with a lower time-out.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import Json, call, exists, mine, run, when
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, in_background, patch
from validation.settings import StackOutputs

pytestmark = pytest.mark.usefixtures("looked_at")


@pytest.mark.req("V9")
@pytest.mark.negative("gang.waits")
def test_half_a_gang_that_another_scheduler_starts_fails(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    def bind(pods: list[Json]) -> None:
        meta = pods[0]["metadata"]
        terms = pods[0]["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        node = terms["nodeSelectorTerms"][0]["matchExpressions"][0]["values"][0]
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/binding"
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": meta["name"]}, "target": target}
        call(outputs, "create", "--raw", path, "-f", "-", body=body)

    def work(stop: threading.Event) -> None:
        when(stop, lambda: mine(kubectl, "gang", "gang")[1:], bind)

    with in_background(work):
        checks = run("gang", outputs, tmp_path)
    assert "gang.waits" in failed(checks)
    assert len(checks["gang.waits"]["observed"]["everScheduled"]) == 1
    assert checks["gang.cleanup"]["verdict"] == "pass"


@pytest.mark.req("V9")
@pytest.mark.negative("topology.impossible")
def test_a_gang_whose_rack_is_no_longer_required_fails(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    where = ("-n", outputs.projects[0].namespace)
    kind, name = "podgroups.scheduling.run.ai", "pg-runai-kit-topology-impossible"

    def work(stop: threading.Event) -> None:
        forget = {"spec": {"topologyConstraint": None}}
        when(stop, exists(kubectl, kind, name, *where), lambda _: patch(kubectl, kind, name, forget, *where))

    with in_background(work):
        checks = run("topology", outputs, tmp_path)
    assert "topology.impossible" in failed(checks)
    assert checks["topology.cleanup"]["verdict"] == "pass"


@pytest.mark.req("V9")
@pytest.mark.negative("priority.preempts", "priority.quota")
def test_a_queue_with_room_for_the_build_fails_priority(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    """No train has to go, and the second build is inside the quota."""
    kind, name = "queues.scheduling.run.ai", "kit-priority"

    def widen(_: Any) -> None:
        change = {"spec": {"resources": {"gpu": {"quota": 2, "limit": 4}}}}
        patch(kubectl, kind, f"{name}-department", change)
        patch(kubectl, kind, name, change)

    def work(stop: threading.Event) -> None:
        when(stop, lambda: mine(kubectl, "priority", "train"), widen)

    with in_background(work):
        checks = run("priority", outputs, tmp_path)
    assert {"priority.preempts", "priority.quota"} <= failed(checks)
    assert checks["priority.cleanup"]["verdict"] == "pass"


@pytest.mark.req("V9")
@pytest.mark.negative("coexistence.run", "coexistence.untouched")
def test_a_plain_pod_that_is_replaced_and_one_with_a_mark_of_kai_fail(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    where = ("-n", "runai-kit-coexistence")

    def disturb(_: Any) -> None:
        call(outputs, "delete", "pod", "runai-kit-coexistence-before-1", *where, "--wait=false")
        mark = {"metadata": {"annotations": {"pod-group-name": "pg-somebody"}}}
        patch(kubectl, "pod", "runai-kit-coexistence-before-2", mark, *where)

    def work(stop: threading.Event) -> None:
        when(stop, lambda: mine(kubectl, "coexistence", "extra"), disturb)

    with in_background(work):
        checks = run("coexistence", outputs, tmp_path)
    assert {"coexistence.run", "coexistence.untouched"} <= failed(checks)
    assert checks["coexistence.cleanup"]["verdict"] == "pass"


@pytest.mark.req("V9")
@pytest.mark.negative("node_pools.outside", "node_pools.inside")
def test_a_node_that_leaves_its_pool_fails_node_pools(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    key, pool = outputs.nodePoolLabelKey, "runai-kit-node-pools"

    def leave(_: Any) -> None:
        for node in kubectl("get", "nodes", "-l", f"{key}={pool}")["items"]:
            patch(kubectl, "node", node["metadata"]["name"], {"metadata": {"labels": {key: None}}})

    def work(stop: threading.Event) -> None:
        when(stop, lambda: mine(kubectl, "node_pools", "stray"), leave)

    with in_background(work):
        checks = run("node_pools", outputs, tmp_path)
    assert {"node_pools.outside", "node_pools.inside"} <= failed(checks)
    assert checks["node_pools.cleanup"]["verdict"] == "pass"
