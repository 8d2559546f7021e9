"""The pretended GPUs: names and paths that the agent, the node image and KAI agree on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.connect import ClusterError
from components.fake_gpus import agent_config
from tests.mocks import Run
from tests.stack import EVERYTHING, LOCAL, FakeCluster, changed, nodes, run_platform, settings


def pod(run: Run) -> dict[str, Any]:
    spec: dict[str, Any] = run.one("DaemonSet", "fake-gpu").inputs["spec"]["template"]["spec"]
    return spec


def checksum(run: Run) -> str:
    template = run.one("DaemonSet", "fake-gpu").inputs["spec"]["template"]
    return str(template["metadata"]["annotations"]["runai-kit.io/config-checksum"])


@pytest.mark.req("I2")
def test_the_agents_config_is_what_the_settings_say() -> None:
    assert json.loads(agent_config(settings(EVERYTHING).fake_gpus)) == {
        "mode": "vgpu",
        "default": {"count": 4, "product": "X", "memoryMiB": 1024},
        "nodes": {"worker2": {"count": 2, "product": "Y", "memoryMiB": 2048}},
    }
    partial = settings(changed(LOCAL, "fakeGpus.nodes", {"worker2": {"count": 0}})).fake_gpus
    assert json.loads(agent_config(partial))["nodes"] == {"worker2": {"count": 0}}


def test_the_daemon_set_runs_where_and_as_agreed(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    spec = pod(run)
    (container,) = spec["containers"]
    assert spec["nodeSelector"] == {"nvidia.com/gpu.deploy.device-plugin": "true"}
    assert spec["serviceAccountName"] == "fake-gpu"
    assert container["image"] == "kind.local/fake-gpu:0.1.0"
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["command"] == ["/fake-gpu", "node"]
    assert container["env"] == [
        {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    ]
    mounts = {item["mountPath"] for item in container["volumeMounts"]}
    host = {item["hostPath"]["path"] for item in spec["volumes"] if "hostPath" in item}
    assert host == {"/var/lib/kubelet/device-plugins", "/var/lib/kubelet/pod-resources", "/run/fake-gpu"}
    assert mounts == host | {"/etc/fake-gpu"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/healthz", "port": 9400}
    assert run.one("DaemonSet", "fake-gpu").inputs["metadata"]["namespace"] == "gpu-operator"


def test_a_changed_config_rolls_the_agents(tmp_path: Path) -> None:
    first = checksum(run_platform(tmp_path))
    assert checksum(run_platform(tmp_path)) == first
    assert checksum(run_platform(tmp_path, changed(LOCAL, "fakeGpus.default.product", "Other"))) != first


def test_the_agent_may_write_pods_only_where_kai_reserves(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    rules = run.one("ClusterRole", "fake-gpu").inputs["rules"]
    granted = {(rule["resources"][0], verb) for rule in rules for verb in rule["verbs"]}
    assert granted == {("nodes", verb) for verb in ("get", "list", "watch", "patch")} | {
        ("pods", verb) for verb in ("get", "list", "watch")
    }
    role = run.one("Role", "fake-gpu-reservation").inputs
    assert role["metadata"]["namespace"] == "kai-resource-reservation"
    assert role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]}]
    for kind in ("ClusterRoleBinding", "RoleBinding"):
        name = "fake-gpu" if kind == "ClusterRoleBinding" else "fake-gpu-reservation"
        binding = run.one(kind, name).inputs
        assert binding["subjects"] == [
            {"kind": "ServiceAccount", "name": "fake-gpu", "namespace": "gpu-operator"}
        ]


def test_rights_and_runtime_class_come_before_the_agents(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    assert run.one("RuntimeClass", "nvidia").inputs["handler"] == "nvidia"
    assert {"nvidia", "fake-gpu", "fake-gpu-reservation"} <= run.one("DaemonSet", "fake-gpu").depends_on


def test_the_exporter_is_found_under_dcgms_name(tmp_path: Path) -> None:
    service = run_platform(tmp_path).one("Service", "nvidia-dcgm-exporter").inputs
    assert service["metadata"]["labels"]["app"] == "nvidia-dcgm-exporter"
    (port,) = service["spec"]["ports"]
    assert (port["name"], port["port"]) == ("gpu-metrics", 9400)


def test_nothing_pretends_when_it_is_off(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(LOCAL, "fakeGpus.enabled", False))
    assert run.of_type("DaemonSet") == run.of_type("RuntimeClass") == []
    assert "gpu-operator" not in {item.name for item in run.of_type("Namespace")}
    assert run.value["capacityGpus"] == 8


def test_no_node_to_pretend_on_is_refused_before_any_resource(tmp_path: Path) -> None:
    values = changed(LOCAL, "fakeGpus.nodeSelector", {"gpu": "yes"})
    with pytest.raises(ClusterError, match=r"no node with \{'gpu': 'yes'\}"):
        run_platform(tmp_path, values)


@pytest.mark.req("I3")
def test_shares_wait_for_the_nodes(tmp_path: Path) -> None:
    run = run_platform(tmp_path, cluster=FakeCluster([nodes(0, 0), nodes(4, 4)]))
    assert run.value["capacityGpus"] == 8


def test_a_preview_of_a_fresh_cluster_shows_the_coming_shares(tmp_path: Path) -> None:
    run = run_platform(tmp_path, cluster=FakeCluster([nodes(0, 0)]), preview=True)
    assert run.value["capacityGpus"] == 8
