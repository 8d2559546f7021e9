"""The installed cluster, read from outside: what was promised is there, and a run left nothing behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.conftest import Kubectl
from validation import declared, names
from validation.settings import StackOutputs

Json = dict[str, Any]
PSA = "pod-security.kubernetes.io/enforce"


def labels(thing: Json) -> Json:
    found: Json = thing["metadata"].get("labels") or {}
    return found


@pytest.mark.req("E3")
def test_the_nodes_are_ready(kubectl: Kubectl) -> None:
    nodes = kubectl("get", "nodes")["items"]
    assert nodes
    for node in nodes:
        state = {c["type"]: c["status"] for c in node["status"]["conditions"]}
        assert state["Ready"] == "True", node["metadata"]["name"]


@pytest.mark.req("I1")
def test_namespaces_carry_the_levels_of_the_catalog(kubectl: Kubectl, outputs: StackOutputs) -> None:
    live = {n["metadata"]["name"]: labels(n) for n in kubectl("get", "namespaces")["items"]}
    assert outputs.namespaces
    for namespace in outputs.namespaces:
        assert live[namespace.name].get(PSA) == namespace.psa, namespace.name
        managed = live[namespace.name].get(names.MANAGED_BY_LABEL) == names.MANAGED_BY
        # What existed before is patched, never owned.
        assert managed is not namespace.existedBefore, namespace.name


@pytest.mark.req("I2")
def test_the_scheduler_is_available_and_every_part_of_it_ready(kubectl: Kubectl) -> None:
    config = kubectl("get", "configs.kai.scheduler", "kai-config")
    state = {c["type"]: c["status"] for c in config["status"]["conditions"]}
    assert state["Deployed"] == state["Available"] == "True"
    deployments = kubectl("get", "deployments", "-n", config["spec"].get("namespace", "kai-scheduler"))[
        "items"
    ]
    assert len(deployments) >= 7
    for deployment in deployments:
        assert deployment["status"].get("readyReplicas", 0) >= 1, deployment["metadata"]["name"]


@pytest.mark.req("I3")
def test_queues_are_the_departments_and_projects(kubectl: Kubectl, outputs: StackOutputs) -> None:
    live = {q["metadata"]["name"]: q for q in kubectl("get", "queues.scheduling.run.ai")["items"]}
    parents = {d.name: d.queue for d in outputs.departments}
    for project in outputs.projects:
        assert live[project.queue]["spec"]["parentQueue"] == parents[project.department]
    wanted = {d.queue: d.gpu for d in outputs.departments} | {p.queue: p.gpu for p in outputs.projects}
    for queue, gpu in wanted.items():
        resources = live[queue]["spec"]["resources"]
        assert resources["gpu"]["quota"] == gpu.deserved
        assert resources["gpu"]["limit"] == gpu.limit
        assert resources["cpu"]["limit"] == resources["memory"]["limit"] == -1


def ask_prometheus(kubectl: Kubectl, outputs: StackOutputs, query: str) -> list[Json]:
    where = outputs.monitoring
    service = f"{where.prometheusService}:{where.prometheusPort}"
    path = f"/api/v1/namespaces/{where.namespace}/services/{service}/proxy"
    answer = kubectl("get", "--raw", f"{path}/api/v1/query?query={query}")
    assert answer["status"] == "success"
    found: list[Json] = answer["data"]["result"]
    return found


@pytest.mark.req("I10")
def test_prometheus_scrapes_kai_and_the_gpu_exporter(kubectl: Kubectl, outputs: StackOutputs) -> None:
    if not outputs.monitoring.enabled:
        assert "monitoring" not in {n.name for n in outputs.namespaces}
        return
    up = ask_prometheus(kubectl, outputs, "up")
    down = [s["metric"] for s in up if s["value"][1] != "1"]
    assert up
    assert down == []
    kai = {
        s["metric"].get("queue_name") for s in ask_prometheus(kubectl, outputs, "kai_queue_allocated_gpus")
    }
    assert {p.queue for p in outputs.projects} <= kai
    gpus = ask_prometheus(kubectl, outputs, "DCGM_FI_DEV_FB_FREE")
    nodes = kubectl("get", "nodes")["items"]
    offered = sum(int(n["status"]["allocatable"].get(names.GPU_RESOURCE, 0)) for n in nodes)
    assert len({s["metric"]["UUID"] for s in gpus}) == offered


@pytest.mark.req("V11")
def test_nothing_of_the_suite_is_left(kubectl: Kubectl, outputs: StackOutputs) -> None:
    selector = f"{names.PART_OF_LABEL}={names.PART_OF}"
    kinds = "jobs,pods,persistentvolumeclaims,podgroups.scheduling.run.ai"
    assert kubectl("get", kinds, "-A", "-l", selector)["items"] == []
    assert kubectl("get", "namespaces,queues.scheduling.run.ai", "-l", selector)["items"] == []
    assert kubectl("get", "pods", "-n", outputs.reservationNamespace)["items"] == []


@pytest.mark.req("V12")
def test_the_report_has_every_declared_check_once(report: Json, outputs: StackOutputs) -> None:
    assert report["environment"] == outputs.environment
    assert sorted(c["id"] for c in report["checks"]) == sorted(declared.checks())
    assert {c["name"] for c in report["components"]} == {c.name for c in outputs.components}


@pytest.mark.req("V1", "V2", "V3", "V4", "V5", "V11", "I12")
@pytest.mark.parametrize("requirement", ["V1", "V2", "V3", "V4", "V5", "V11", "I12"])
def test_the_report_proves_the_requirement_live(report: Json, requirement: str) -> None:
    mine = [c for c in report["checks"] if c["requirement"] == requirement]
    assert mine
    for check in mine:
        assert check["verdict"] in ("pass", "na"), json.dumps(check, indent=1)
        assert check["proof"] == "live"
    assert any(c["verdict"] == "pass" for c in mine)


@pytest.mark.req("V4")
def test_the_reported_latency_agrees_with_the_api(report: Json) -> None:
    """The watch's milliseconds and the API's seconds tell the same story."""
    from datetime import datetime

    seen = next(c for c in report["checks"] if c["id"] == "reclaim.latency")["observed"]
    assert seen["each"]
    for pod, seconds in seen["each"].items():
        api = seen["apiSeconds"][pod]
        between = datetime.fromisoformat(api["started"]) - datetime.fromisoformat(api["created"])
        # Both API stamps are cut to seconds; the kubelet reports Running a moment after the start.
        assert -1.5 <= seconds - between.total_seconds() <= 4
