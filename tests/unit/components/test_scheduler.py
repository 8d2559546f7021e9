"""KAI's release, Config and shards: inputs, and an order that a destroy can walk backwards."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from components.kai.gate import WAIT_FOR
from components.scheduler import fingerprint
from tests.stack import LOCAL, FakeCluster, changed, kai_config, nodes, run_platform

POOLED = changed(LOCAL, "nodePools", {"pools": [{"name": "a100", "placement": {"gpu": "spread"}}]})
FROM_REGISTRY = changed(
    changed(
        changed(changed(LOCAL, "charts", {"source": "registry"}), "knative.source", "operator"),
        "scheduler.version",
        "0.18.6",
    ),
    "monitoring.source",
    "chart",
)


@pytest.mark.req("I2")
def test_the_chart_is_a_real_release_from_the_directory(tmp_path: Path) -> None:
    release = run_platform(tmp_path).one("Release", "kai-scheduler")
    assert release.type == "kubernetes:helm.sh/v3:Release"
    assert release.parent == "scheduler"
    assert release.inputs["chart"] == "charts/kai-scheduler-0.12.0.tgz"
    assert "version" not in release.inputs
    assert (release.inputs["name"], release.inputs["namespace"]) == ("kai-scheduler", "kai-scheduler")
    assert release.inputs["values"]["global"]["gpuSharing"] is True
    assert "createNamespace" not in release.inputs


@pytest.mark.req("I2")
def test_the_newer_generation_comes_from_its_registry(tmp_path: Path) -> None:
    release = run_platform(tmp_path, FROM_REGISTRY).one("Release", "kai-scheduler")
    assert release.inputs["chart"] == "oci://ghcr.io/kai-scheduler/kai-scheduler/kai-scheduler"
    assert release.inputs["version"] == "v0.18.6"
    assert release.inputs["values"]["global"]["gpuSharingMode"] == "NonMemoryEnforced"


@pytest.mark.req("I2", "I13")
def test_the_newer_chart_finds_the_reservation_pods_account_there(tmp_path: Path) -> None:
    """Left to itself the chart renders it at every second upgrade only, and Helm deletes it at the others."""
    mirror = {"prefix": "harbor.test/m", "username": "robot", "password": "word"}
    run = run_platform(tmp_path, changed(FROM_REGISTRY, "registry", mirror))
    account = run.one("ServiceAccount", "reservation-account")
    where = account.inputs["metadata"]
    assert (where["name"], where["namespace"]) == ("kai-resource-reservation", "kai-resource-reservation")
    # An account that the release made before stays when the release no longer has it.
    assert where["annotations"] == {"helm.sh/resource-policy": "keep", "pulumi.com/patchForce": "true"}
    assert account.inputs["imagePullSecrets"] == [{"name": "runai-kit-registry"}]
    release = run.one("Release", "kai-scheduler")
    assert "reservation-account" in release.depends_on
    reservation = release.inputs["values"]["global"]["resourceReservation"]
    assert (reservation["serviceAccount"], reservation["createServiceAccount"]) == (where["name"], False)


@pytest.mark.req("I2")
def test_the_older_chart_makes_that_account_itself(tmp_path: Path) -> None:
    accounts = run_platform(tmp_path).of_type("ServiceAccount")
    assert "reservation-account" not in {item.name for item in accounts}


@pytest.mark.req("I2")
def test_config_is_applied_after_the_release_and_waited_for(tmp_path: Path) -> None:
    config = run_platform(tmp_path).one("Config", "kai-config")
    assert config.inputs["apiVersion"] == "kai.scheduler/v1"
    assert "kai-scheduler" in config.depends_on
    annotations = config.inputs["metadata"]["annotations"]
    assert annotations["pulumi.com/waitFor"] == WAIT_FOR
    assert config.inputs["spec"]["prometheus"] == {"enabled": False}


@pytest.mark.req("I14")
def test_an_upgrade_of_the_release_applies_config_again(tmp_path: Path) -> None:
    """The chart makes kai-config anew; the mock's release is at revision 3."""
    config = run_platform(tmp_path).one("Config", "kai-config")
    assert config.inputs["metadata"]["annotations"]["runai-kit.io/release-revision"] == "3"


@pytest.mark.req("I14")
def test_a_changed_setting_goes_through_config_without_a_helm_upgrade(tmp_path: Path) -> None:
    """An upgrade's hook deletes kai-config, and with it every part of KAI until it is made again."""
    changes = {
        "sharing": "none",
        "scheduler.runtimeClass": "other",
        "scheduler.placement.gpu": "spread",
    }
    values = LOCAL
    for path, value in changes.items():
        values = changed(values, path, value)
    before = run_platform(tmp_path).one("Release", "kai-scheduler")
    run = run_platform(tmp_path, values)
    after = run.one("Release", "kai-scheduler")
    differing = differences(before.inputs, after.inputs)
    assert differing == set(after.ignore_changes)
    assert len(differing) == 4
    admission = run.one("Config", "kai-config").inputs["spec"]["admission"]
    assert (admission["gpuSharing"], admission["gpuPodRuntimeClassName"]) == (False, "other")


def differences(one: dict[str, Any], other: dict[str, Any], path: str = "") -> set[str]:
    """Dotted paths at which two nested mappings differ."""
    found: set[str] = set()
    for key in one.keys() | other.keys():
        here = f"{path}.{key}" if path else key
        left, right = one.get(key), other.get(key)
        if isinstance(left, dict) and isinstance(right, dict):
            found |= differences(left, right, here)
        elif left != right:
            found.add(here)
    return found


@pytest.mark.req("I2")
def test_the_newer_chart_gets_every_change(tmp_path: Path) -> None:
    assert run_platform(tmp_path, FROM_REGISTRY).one("Release", "kai-scheduler").ignore_changes == ()


@pytest.mark.req("I2")
def test_config_changes_when_the_fake_gpu_nodes_do(tmp_path: Path) -> None:
    def seen(*gpus: int) -> str:
        values = changed(LOCAL, "fakeGpus.nodes", {f"worker{i}": {"count": n} for i, n in enumerate(gpus, 1)})
        run = run_platform(tmp_path, values, FakeCluster([nodes(*gpus)]))
        return str(run.one("Config", "kai-config").inputs["metadata"]["annotations"]["runai-kit.io/nodes"])

    assert seen(4, 4) == seen(4, 2)
    assert seen(4, 4) != seen(4, 0)
    assert fingerprint(["b", "a"]) == fingerprint(["b", "a"]) != fingerprint(["a", "b"])


@pytest.mark.req("I2")
def test_there_is_a_shard_per_pool_and_one_for_the_rest(tmp_path: Path) -> None:
    shards = {
        item.inputs["metadata"]["name"]: item
        for item in run_platform(tmp_path, POOLED).of_type("SchedulingShard")
    }
    assert shards.keys() == {"default", "a100"}
    assert shards["default"].inputs["spec"]["partitionLabelValue"] == ""
    assert shards["a100"].inputs["spec"] == {
        "partitionLabelValue": "a100",
        "placementStrategy": {"gpu": "spread", "cpu": "binpack"},
    }
    assert all("kai-config" in item.depends_on for item in shards.values())


@pytest.mark.req("I14")
def test_destroy_can_go_projects_queues_shards_config_release_namespaces(tmp_path: Path) -> None:
    run = run_platform(tmp_path, POOLED)
    by_name: dict[str, set[str]] = {}
    for item in run.resources:
        by_name.setdefault(item.name, set()).update(item.depends_on, {item.parent} - {""})

    def reaches(start: str, goal: str) -> bool:
        todo, done = {start}, set()
        while todo:
            name = todo.pop()
            if name == goal:
                return True
            done.add(name)
            todo |= by_name.get(name, set()) - done
        return False

    chain = [
        "runai-team-a",
        "queue-team-a",
        "queue-engineering",
        "shard-default",
        "kai-config",
        "kai-scheduler",
    ]
    for later, earlier in pairwise(chain):
        assert reaches(later, earlier), f"{later} must go before {earlier}"
        assert not reaches(earlier, later)
    namespace = "kai-resource-reservation"
    assert reaches("kai-scheduler", namespace), f"the release must go before namespace {namespace}"


@pytest.mark.req("I2")
def test_queues_wait_until_kai_is_ready(tmp_path: Path) -> None:
    """With KAI never ready the program must not declare a queue."""
    cluster = FakeCluster(configs=[kai_config(2, 1), kai_config(2, 2)])
    run = run_platform(tmp_path, cluster=cluster)
    assert len(run.of_type("Queue")) == 4
    assert cluster.configs == [kai_config(2, 2)]


def test_nothing_of_kai_goes_to_the_ambient_cluster(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    objects: list[Any] = [item for item in run.resources if item.type.startswith("kubernetes:")]
    assert len(objects) > 20
    assert {item.provider for item in objects} == {"cluster"}
