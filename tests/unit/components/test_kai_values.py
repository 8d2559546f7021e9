"""Helm values per chart generation: what each must say, and that taking one away is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from components.cluster import ClusterFacts
from components.config.sections import PlacementStrategy
from components.kai import v0_12, v0_18
from components.kai.inputs import KaiInputs
from components.kai.settings import capacity_queries, kai_inputs
from components.kai.shard import shard
from tests.stack import CATALOG, EVERYTHING, LOCAL, changed, nodes, settings

FACTS = ClusterFacts("", nodes(4, 4), {})


def inputs(values: dict[str, Any] = LOCAL, key: str = "kai-scheduler-0.12") -> KaiInputs:
    return kai_inputs(settings(values), CATALOG, FACTS, key, "")


RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities.drop": ["ALL"],
    "runAsNonRoot": True,
    "runAsUser": 10000,
    "seccompProfile.type": "RuntimeDefault",
}

# What the facts about each chart ask for. Everything else a builder emits fails the test below.
REQUIRED_0_12 = {
    "global.registry": "ghcr.io/nvidia/kai-scheduler",
    "global.tag": "v0.12.0",
    "global.imagePullPolicy": "IfNotPresent",
    "global.gpuSharing": True,
    "global.leaderElection": False,
    "global.namespaceLabelSelector.runai-kit.io/scheduler": "kai-scheduler",
    "global.resourceReservation.namespace": "kai-resource-reservation",
    "global.resourceReservation.serviceAccount": "kai-resource-reservation",
    "global.resourceReservation.appLabel": "kai-resource-reservation",
    **{f"global.securityContext.{key}": value for key, value in RESTRICTED.items()},
    "operator.replicaCount": 1,
    "podgrouper.queueLabelKey": "kai.scheduler/queue",
    "admission.gpuPodRuntimeClassName": "nvidia",
    "binder.runtimeClassName": "nvidia",
    "scheduler.placementStrategy": "binpack",
    "defaultQueue.createDefaultQueue": False,
    "topologyMigration.enabled": False,
    "postCleanup.enabled": False,
}
REQUIRED_0_18 = {
    "global.registry": "ghcr.io/kai-scheduler/kai-scheduler",
    "global.tag": "v0.18.6",
    "global.imagePullPolicy": "IfNotPresent",
    "global.imagePullSecrets": [],
    "global.gpuSharingMode": "NonMemoryEnforced",
    "global.leaderElection": False,
    "global.nodePoolLabelKey": "kai.scheduler/node-pool",
    "global.namespaceLabelSelector.runai-kit.io/scheduler": "kai-scheduler",
    "global.resourceReservation.namespace": "kai-resource-reservation",
    "global.resourceReservation.serviceAccount": "kai-resource-reservation",
    "global.resourceReservation.appLabel": "kai-resource-reservation",
    "global.resourceReservation.createNamespace": False,
    "global.resourceReservation.createServiceAccount": False,
    **{f"global.securityContext.{key}": value for key, value in RESTRICTED.items()},
    "global.podSecurityContext.runAsNonRoot": True,
    "global.podSecurityContext.seccompProfile.type": "RuntimeDefault",
    "operator.replicaCount": 1,
    "podgrouper.queueLabelKey": "kai.scheduler/queue",
    "admission.gpuFractionRuntimeClassName": "nvidia",
    "binder.runtimeClassName": "nvidia",
    "scheduler.placementStrategy": "binpack",
    "defaultShard.enabled": False,
    "defaultQueue.createDefaultQueue": False,
    "topologyMigration.enabled": False,
    "prometheus.enabled": False,
    "numaPlacementExporter.enabled": False,
}


def leaves(node: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            yield from leaves(value, here)
        else:
            yield here, value


@pytest.mark.req("I2")
def test_chart_0_12_gets_exactly_what_it_needs() -> None:
    assert dict(leaves(v0_12.values(inputs()))) == REQUIRED_0_12


@pytest.mark.req("I2")
def test_chart_0_18_gets_exactly_what_it_needs() -> None:
    assert dict(leaves(v0_18.values(inputs(key="kai-scheduler-0.18")))) == REQUIRED_0_18


@pytest.mark.req("I2")
@pytest.mark.parametrize(
    ("builder", "key", "on", "off"),
    [
        (v0_12, "gpuSharing", True, False),
        (v0_18, "gpuSharingMode", "NonMemoryEnforced", "Disabled"),
    ],
)
def test_sharing_is_a_setting(builder: Any, key: str, on: object, off: object) -> None:
    assert builder.values(inputs())["global"][key] == on
    assert builder.values(replace(inputs(), sharing="none"))["global"][key] == off


@pytest.mark.req("I2")
@pytest.mark.parametrize("builder", [v0_12, v0_18])
def test_placement_replicas_and_leader_election_are_settings(builder: Any) -> None:
    changed_inputs = replace(
        inputs(),
        placement=PlacementStrategy(gpu="spread"),
        replicas=3,
        leader_election=True,
        runtime_class="other",
    )
    values = builder.values(changed_inputs)
    assert values["scheduler"]["placementStrategy"] == "spread"
    assert values["operator"]["replicaCount"] == 3
    assert values["global"]["leaderElection"] is True
    assert "other" in values["admission"].values()
    assert values["binder"]["runtimeClassName"] == "other"


@pytest.mark.req("I13")
def test_a_mirror_and_its_credentials_reach_the_chart() -> None:
    kai = kai_inputs(settings(EVERYTHING), CATALOG, FACTS, "kai-scheduler-0.12", "the-secret")
    assert kai.registry == "harbor.example.test/m/ghcr.io/nvidia/kai-scheduler"
    for builder in (v0_12, v0_18):
        assert builder.values(kai)["global"]["imagePullSecrets"] == [{"name": "the-secret"}]
    # Chart 0.12 writes the secret into a field that Config does not have.
    assert v0_12.config(kai)["global"]["additionalImagePullSecrets"] == ["the-secret"]


def image(path: str, name: str) -> dict[str, str]:
    fields = {
        "name": name,
        "repository": "ghcr.io/nvidia/kai-scheduler",
        "tag": "v0.12.0",
        "pullPolicy": "IfNotPresent",
    }
    return {f"{path}.{key}": value for key, value in fields.items()}


@pytest.mark.req("I2")
def test_config_0_12_is_stated_in_full() -> None:
    """Also what the chart renders, which the provider would remove; `python -m policy` compares the two."""
    assert dict(leaves(v0_12.config(replace(inputs(), node_pool_label_key="pool")))) == {
        "namespace": "kai-scheduler",
        "global.namespaceLabelSelector.runai-kit.io/scheduler": "kai-scheduler",
        "global.replicaCount": 1,
        **{f"global.securityContext.{key}": value for key, value in RESTRICTED.items()},
        "binder.service.enabled": True,
        **image("binder.service.image", "binder"),
        "binder.metricsPort": 8080,
        "binder.resourceReservation.runtimeClassName": "nvidia",
        "binder.resourceReservation.image.name": "resourcereservation",
        "podGroupController.service.enabled": True,
        **image("podGroupController.service.image", "podgroupcontroller"),
        "queueController.service.enabled": True,
        **image("queueController.service.image", "queuecontroller"),
        "admission.service.enabled": True,
        **image("admission.service.image", "admission"),
        "admission.gpuSharing": True,
        "admission.queueLabelSelector": False,
        "admission.gpuPodRuntimeClassName": "nvidia",
        "admission.webhook.port": 443,
        "admission.webhook.targetPort": 9443,
        "admission.webhook.probePort": 8081,
        "admission.webhook.metricsPort": 8080,
        "nodeScaleAdjuster.service.enabled": False,
        **image("nodeScaleAdjuster.service.image", "nodescaleadjuster"),
        "nodeScaleAdjuster.args.nodeScaleNamespace": "kai-scale-adjust",
        **image("nodeScaleAdjuster.args.scalingPodImage", "scalingpod"),
        **image("scheduler.service.image", "scheduler"),
        "scheduler.schedulerService.port": 8080,
        "global.schedulerName": "kai-scheduler",
        "global.queueLabelKey": "kai.scheduler/queue",
        "global.nodePoolLabelKey": "pool",
        "binder.resourceReservation.namespace": "kai-resource-reservation",
        "binder.resourceReservation.serviceAccountName": "kai-resource-reservation",
        "binder.resourceReservation.appLabel": "kai-resource-reservation",
        "prometheus.enabled": False,
    }


@pytest.mark.req("I2")
def test_config_0_18_sets_the_names_that_pods_use() -> None:
    assert dict(leaves(v0_18.config(inputs()))) == {
        "global.schedulerName": "kai-scheduler",
        "global.queueLabelKey": "kai.scheduler/queue",
    }


@pytest.mark.req("I2")
def test_a_plain_shard_only_places() -> None:
    assert shard(inputs(), "", PlacementStrategy(cpu="spread")) == {
        "partitionLabelValue": "",
        "placementStrategy": {"gpu": "binpack", "cpu": "spread"},
    }


@pytest.mark.req("I2")
def test_leader_election_reaches_the_scheduler_itself() -> None:
    assert shard(replace(inputs(), leader_election=True), "", PlacementStrategy())["args"] == {
        "leader-elect": "true"
    }


@pytest.mark.req("I2")
def test_time_based_fair_share_reads_prometheus() -> None:
    spec = shard(inputs(EVERYTHING), "a100", PlacementStrategy())
    assert spec["partitionLabelValue"] == "a100"
    assert spec["kValue"] == 2.5
    usage = spec["usageDBConfig"]
    assert usage["clientType"] == "prometheus"
    assert usage["connectionString"] == "http://prometheus-operated.monitoring.svc:9090"
    assert usage["usageParams"] == {
        "windowSize": "5m",
        "windowType": "tumbling",
        "fetchInterval": "10s",
        "halfLifePeriod": "1m",
        "extraParams": {
            "gpuCapacityMetric": "count(DCGM_FI_DEV_FB_FREE)",
            "cpuCapacityMetric": "vector(12)",
            "memoryCapacityMetric": f"vector({3 * (8 << 30)})",
        },
    }


@pytest.mark.req("I2")
def test_with_kube_state_metrics_kai_asks_what_it_asks_by_default() -> None:
    values = changed(
        changed(EVERYTHING, "monitoring.source", "chart"), "scheduler.timeBasedFairShare.halfLife", ...
    )
    params = shard(inputs(values), "", PlacementStrategy())["usageDBConfig"]["usageParams"]
    assert params.keys() == {"windowSize", "windowType", "fetchInterval"}


def test_without_monitoring_there_is_no_address_to_read_from() -> None:
    assert inputs(changed(LOCAL, "monitoring.enabled", False)).prometheus_url == ""
    assert capacity_queries(ClusterFacts("", (), {}))["cpuCapacityMetric"] == "vector(0)"
