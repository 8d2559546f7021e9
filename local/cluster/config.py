"""kind's configuration for the local cluster, written as JSON, which is YAML."""

from __future__ import annotations

import json
import os
from typing import Any

from local import paths, tools

POD_SUBNET = "10.244.0.0/16"
ADMISSION = "/etc/kubernetes/runai-kit/admission.yaml"
MIRROR = "/etc/containerd/certs.d"


def gpu_nodes() -> int:
    """Return the number of GPU workers (RUNAI_KIT_GPU_NODES, default 2)."""
    return _whole("RUNAI_KIT_GPU_NODES", 2)


def _whole(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    if not text.isdigit() or not 1 <= int(text) <= 8:
        raise ValueError(
            f"{name}: found {text!r}, expected a whole number from 1 to 8; correct it or unset it"
        )
    return int(text)


def admission() -> dict[str, Any]:
    """Return the admission configuration that makes Pod Security `restricted` the default, as VKS does."""
    levels = dict.fromkeys(("enforce", "audit", "warn"), "restricted")
    versions = {f"{mode}-version": "latest" for mode in levels}
    security = {
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": {**levels, **versions},
        "exemptions": {"usernames": [], "runtimeClasses": [], "namespaces": ["kube-system"]},
    }
    return {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": "PodSecurity", "configuration": security}],
    }


def kind_config(*, built: bool) -> dict[str, Any]:
    """Return the cluster's configuration.

    built: whether the node image was made from packages: then the tags of etcd and CoreDNS
    are those that were compiled, and kind's own network plugin is not in the image.
    """
    control = _node("control-plane")
    admission_file = paths.STATE / "admission.yaml"
    control["extraMounts"].append(
        {"hostPath": str(admission_file), "containerPath": ADMISSION, "readOnly": True}
    )
    control["kubeadmConfigPatches"] = [_cluster_patch(built)]
    workers = [_node("worker") for _ in range(gpu_nodes())]
    for worker in workers:
        worker["labels"] = {"nvidia.com/gpu.deploy.device-plugin": "true"}
        worker["extraMounts"] += _fake_driver()
    return {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"disableDefaultCNI": built, "podSubnet": POD_SUBNET},
        "containerdConfigPatches": [_containerd(built)],
        "nodes": [control, *workers],
    }


def _node(role: str) -> dict[str, Any]:
    mounts: list[dict[str, Any]] = []
    if os.environ.get("RUNAI_KIT_MIRROR"):
        mounts.append({"hostPath": str(paths.STATE / "certs.d"), "containerPath": MIRROR, "readOnly": True})
    return {"role": role, "extraMounts": mounts}


def _fake_driver() -> list[dict[str, Any]]:
    """Mount the stand-ins of NVIDIA's runtime and nvidia-smi where the real ones would be installed."""
    folder = tools.groups()["fake-gpu"].folder
    places = {
        "nvidia-container-runtime": "/usr/local/bin/nvidia-container-runtime",
        "nvidia-smi": "/usr/local/nvidia/bin/nvidia-smi",
    }
    return [
        {"hostPath": str(folder / name), "containerPath": place, "readOnly": True}
        for name, place in places.items()
    ]


def _cluster_patch(built: bool) -> str:
    volume = {
        "name": "runai-kit",
        "hostPath": ADMISSION,
        "mountPath": ADMISSION,
        "readOnly": True,
        "pathType": "File",
    }
    patch: dict[str, Any] = {
        "kind": "ClusterConfiguration",
        "apiServer": {"extraArgs": {"admission-control-config-file": ADMISSION}, "extraVolumes": [volume]},
    }
    if built:
        patch |= {"etcd": {"local": {"imageTag": "3.6.4-0"}}, "dns": {"imageTag": "v1.12.4"}}
    return json.dumps(patch)


def _containerd(built: bool) -> str:
    """Add the runtime `nvidia`; where nodes come from packages also what this containerd and host need."""
    cri = 'plugins."io.containerd.grpc.v1.cri"'
    runtime = f"{cri}.containerd.runtimes.nvidia"
    lines = [
        f"[{runtime}]",
        '  runtime_type = "io.containerd.runc.v2"',
        '  base_runtime_spec = "/etc/containerd/cri-base.json"',
        f"  [{runtime}.options]",
        '    BinaryName = "/usr/local/bin/nvidia-container-runtime"',
        "    SystemdCgroup = true",
    ]
    if built:
        # Without CAP_SYS_RESOURCE containerd cannot lower a score below its own.
        lines += [
            f"[{cri}]",
            '  sandbox_image = "registry.k8s.io/pause:3.10.1"',
            "  restrict_oom_score_adj = true",
        ]
    if os.environ.get("RUNAI_KIT_MIRROR"):
        lines += [f"[{cri}.registry]", f'  config_path = "{MIRROR}"']
    return "\n".join(lines) + "\n"
