"""What kind is asked for: restricted by default, GPU workers, the runtime, bounded settings."""

import json
import tomllib
from pathlib import Path

import pytest

from local import engine
from local.cluster import config


@pytest.mark.req("I1", "E1")
def test_pod_security_is_restricted_by_default_and_only_kube_system_is_exempt() -> None:
    security = config.admission()["plugins"][0]["configuration"]
    modes = ("enforce", "audit", "warn")
    assert {mode: security["defaults"][mode] for mode in modes} == dict.fromkeys(modes, "restricted")
    assert security["exemptions"]["namespaces"] == ["kube-system"]


@pytest.mark.req("E1")
def test_there_are_two_gpu_workers_unless_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUNAI_KIT_GPU_NODES", raising=False)
    roles = [node["role"] for node in config.kind_config(built=True)["nodes"]]
    assert roles == ["control-plane", "worker", "worker"]
    monkeypatch.setenv("RUNAI_KIT_GPU_NODES", "1")
    workers = [node for node in config.kind_config(built=True)["nodes"] if node["role"] == "worker"]
    assert [worker["labels"] for worker in workers] == [{"nvidia.com/gpu.deploy.device-plugin": "true"}]


@pytest.mark.req("E1")
@pytest.mark.parametrize("text", ["0", "9", "two", "-1", ""])
def test_a_wrong_number_of_workers_is_one_clear_error(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("RUNAI_KIT_GPU_NODES", text)
    with pytest.raises(ValueError, match=r"RUNAI_KIT_GPU_NODES: found .*expected a whole number from 1 to 8"):
        config.gpu_nodes()


@pytest.mark.req("E2")
def test_upstream_images_keep_their_own_tags_and_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUNAI_KIT_MIRROR", raising=False)
    upstream = config.kind_config(built=False)
    patch = json.loads(upstream["nodes"][0]["kubeadmConfigPatches"][0])
    assert "etcd" not in patch
    assert not upstream["networking"]["disableDefaultCNI"]
    built = json.loads(config.kind_config(built=True)["nodes"][0]["kubeadmConfigPatches"][0])
    assert built["etcd"]["local"]["imageTag"] == "3.6.4-0"


@pytest.mark.req("E1", "E2")
@pytest.mark.parametrize("built", [True, False])
def test_the_nvidia_runtime_is_a_wrapper_around_runc(built: bool) -> None:
    table = tomllib.loads(config.kind_config(built=built)["containerdConfigPatches"][0])
    runtime = table["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]["nvidia"]
    assert runtime["options"]["BinaryName"] == "/usr/local/bin/nvidia-container-runtime"


@pytest.mark.req("E1")
def test_the_engine_gets_no_limit_above_the_machines_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "CONFIG", tmp_path / "containers.conf")
    monkeypatch.setattr("resource.getrlimit", lambda _: (100, 100))
    engine.configure()
    limits = tomllib.loads(engine.CONFIG.read_text())["containers"]["default_ulimits"]
    assert limits == ["nofile=100:100", "nproc=100:100"]
