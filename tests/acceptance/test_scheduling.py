"""V9 and V14 in both directions: the cluster is changed while a test runs, and the right check must fail.

Each change is taken back whatever happens. Waiting is cut short by outputs with a lower time-out.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import Json, call, exists, mine, run, when
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import changed_queue, failed, in_background, patch
from validation.settings import StackOutputs

SHARD = "schedulingshards.kai.scheduler"


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


@contextmanager
def placed(kubectl: Kubectl, strategy: str) -> Iterator[None]:
    """The default shard with another GPU placement; its scheduler is restarted by the operator."""
    before = kubectl("get", SHARD, "default")["spec"].get("placementStrategy")
    patch(kubectl, SHARD, "default", {"spec": {"placementStrategy": {"gpu": strategy}}})
    try:
        settled(kubectl, strategy)
        yield
    finally:
        patch(kubectl, SHARD, "default", {"spec": {"placementStrategy": before}})
        settled(kubectl, (before or {}).get("gpu", "binpack"))


def settled(kubectl: Kubectl, strategy: str, seconds: int = 60) -> None:
    """Until the scheduler's config map has the strategy and its only pod, with that map, is ready."""
    pause, where = threading.Event(), ("-n", "kai-scheduler")
    plugin = {"binpack": "gpupack", "spread": "gpuspread"}[strategy]
    for _ in range(seconds):
        config = kubectl("get", "configmap", "kai-scheduler-default", *where)
        pods = kubectl("get", "pods", *where, "-l", "app=kai-scheduler-default")["items"]
        version = config["metadata"]["resourceVersion"]
        ready = [c["status"] for p in pods for c in p["status"].get("conditions", []) if c["type"] == "Ready"]
        used = [p["metadata"]["annotations"].get("configMapVersion") for p in pods]
        if plugin in config["data"]["config.yaml"] and ready == ["True"] and used == [version]:
            return
        pause.wait(1)
    raise AssertionError(f"the scheduler did not come up with {strategy} within {seconds} s")


@pytest.mark.req("V9")
@pytest.mark.negative("placement.setting", "placement.pods")
def test_placement_follows_the_live_strategy_and_fails_where_the_stack_says_otherwise(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    other = "spread" if outputs.placement.gpu == "binpack" else "binpack"
    with placed(kubectl, other):
        wrong = run("placement", outputs, tmp_path)
        right = run("placement", outputs, tmp_path, placement={"gpu": other, "cpu": outputs.placement.cpu})
    assert failed(wrong) & {"placement.setting", "placement.pods"} == {"placement.setting", "placement.pods"}
    assert not {check for check in failed(right) if check.startswith("placement.")}
    assert right["placement.pods"]["observed"]["distinct"] != wrong["placement.pods"]["expected"]["distinct"]


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


@pytest.mark.req("V9")
@pytest.mark.negative("fair_share_over_time.shifted")
def test_a_scheduler_to_which_the_past_means_nothing_fails_fair_share_over_time(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    name = "runai-kit-fair-share-over-time"

    def work(stop: threading.Event) -> None:
        forget = {"spec": {"kValue": 0}}
        when(stop, exists(kubectl, SHARD, name), lambda _: patch(kubectl, SHARD, name, forget))

    with in_background(work):
        checks = run("fair_share_over_time", outputs, tmp_path)
    assert "fair_share_over_time.shifted" in failed(checks)
    assert checks["fair_share_over_time.even"]["verdict"] == "pass"
    assert checks["fair_share_over_time.cleanup"]["verdict"] == "pass"


@pytest.mark.req("V9")
@pytest.mark.negative("partitions.mig", "partitions.dra")
def test_a_declared_na_fails_where_the_cluster_offers_mig_or_dra(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    node = next(name for name, count in outputs.expectedGpus.items() if count > 0)
    mig = "nvidia.com/mig-1g.10gb"
    driver = "gpu.example.com"
    devices = [
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": driver}, "spec": {}},
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{node}-{driver}"},
            "spec": {
                "driver": driver,
                "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "gpu-0"}],
            },
        },
    ]
    file = tmp_path / "devices.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": devices}))

    def offer(amount: str | None) -> None:
        status = {"status": {"capacity": {mig: amount}, "allocatable": {mig: amount}}}
        patch(kubectl, "node", node, status, "--subresource=status")

    try:
        kubectl("apply", "-f", str(file), "-o", "json")
        offer("1")
        checks = run("partitions", outputs, tmp_path, timeout=10)
    finally:
        offer(None)
        for kind, name in (("resourceslice", f"{node}-{driver}"), ("deviceclass", driver)):
            call(outputs, "delete", kind, name, "--ignore-not-found")
    assert {"partitions.mig", "partitions.dra"} <= failed(checks)
    for check in ("partitions.mig", "partitions.dra"):
        assert "declared n/a" in checks[check]["reason"]
        assert "could run" in checks[check]["reason"]
    assert checks["partitions.cleanup"]["verdict"] == "pass"


@pytest.mark.req("V14")
@pytest.mark.negative("combined_state.workloads", "combined_state.queues")
def test_a_lower_limit_fails_the_combined_state(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    project = next(item for item in outputs.projects if item.gpu.limit > item.gpu.deserved > 0)
    wrong = {"quota": project.gpu.deserved, "limit": project.gpu.limit - 1, "overQuotaWeight": 1}
    with changed_queue(kubectl, project.queue, wrong):
        checks = run("combined_state", outputs, tmp_path)
    assert {"combined_state.workloads", "combined_state.queues"} <= failed(checks)
    assert checks["combined_state.cleanup"]["verdict"] == "pass"


@pytest.mark.req("V14")
@pytest.mark.negative("combined_state.prometheus")
def test_a_prometheus_that_is_gone_fails_its_check_alone(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    where = ("-n", outputs.monitoring.namespace)
    (instance,) = kubectl("get", "prometheuses.monitoring.coreos.com", *where)["items"]
    name, replicas = instance["metadata"]["name"], instance["spec"].get("replicas", 1)
    try:
        patch(kubectl, "prometheuses.monitoring.coreos.com", name, {"spec": {"replicas": 0}}, *where)
        checks = run("combined_state", outputs, tmp_path)
    finally:
        patch(kubectl, "prometheuses.monitoring.coreos.com", name, {"spec": {"replicas": replicas}}, *where)
        until_ready(kubectl, f"prometheus-{name}-0", *where)
    mine_failed = {check for check in failed(checks) if check.startswith("combined_state.")}
    assert mine_failed == {"combined_state.prometheus"}


def until_ready(kubectl: Kubectl, pod: str, *where: str, seconds: int = 90) -> None:
    pause = threading.Event()
    for _ in range(seconds):
        for found in kubectl("get", "pods", *where)["items"]:
            state = {c["type"]: c["status"] for c in found["status"].get("conditions", [])}
            if found["metadata"]["name"] == pod and state.get("Ready") == "True":
                return
        pause.wait(1)
    raise AssertionError(f"{pod} is not ready within {seconds} s")
