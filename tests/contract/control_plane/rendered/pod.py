"""The pod that every kind of workload has, from the spec of the API's request."""

from __future__ import annotations

import shlex
from typing import Any

from tests.contract.control_plane.kinds import KINDS

Json = dict[str, Any]
# How the double finds a workload's objects again.
WORKLOAD = "double.runai-kit.io/workload"
# Nobody, for what says no user: pods of projects pass the level `restricted`.
_NOBODY = 65532
# Priority classes of KAI 0.12 that are not preemptible.
_CLASSES = {"Training": "build", "Workspace": "build", "Inference": "inference"}


def preemptible(workload: Json) -> bool:
    """As stated, else as the kind is by default."""
    stated = workload["spec"].get("preemptibility")
    return KINDS[workload["type"]].preemptible if stated is None else stated == "preemptible"


def devices(workload: Json) -> float:
    """GPUs of one pod; a part of a device counts as that part."""
    compute = workload["spec"].get("compute") or {}
    return float((compute.get("gpuDevicesRequest") or 0) * (compute.get("gpuPortionRequest") or 1))


def labels(workload: Json) -> Json:
    """Labels of the workload's objects and pods."""
    return {
        **_pairs(workload["spec"].get("labels")),
        WORKLOAD: workload["id"],
        "kai.scheduler/queue": workload["projectName"],
        "priorityClassName": "train" if preemptible(workload) else _CLASSES[workload["type"]],
    }


def marks(workload: Json) -> Json:
    """Annotations of the pods: stated ones, and KAI's for a part of a GPU."""
    spec = workload["spec"]
    compute = spec.get("compute") or {}
    found = _pairs(spec.get("annotations"))
    if compute.get("gpuDevicesRequest") and compute.get("gpuPortionRequest"):
        found["gpu-fraction"] = str(compute["gpuPortionRequest"])
    elif compute.get("gpuDevicesRequest") and compute.get("gpuMemoryRequest"):
        found["gpu-memory"] = compute["gpuMemoryRequest"].removesuffix("Mi")
    return found


def pod(workload: Json) -> Json:
    """Spec of the pod; its container has the workload's name."""
    spec = workload["spec"]
    volumes, mounts = _volumes(spec)
    return {
        "schedulerName": "kai-scheduler",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": _person(spec.get("security") or {}),
        **_affinity(spec),
        "containers": [_container(workload, mounts)],
        "volumes": volumes,
    }


def confined() -> Json:
    """Security of a container that needs nothing."""
    return {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def _container(workload: Json, mounts: list[Json]) -> Json:
    spec = workload["spec"]
    made: Json = {
        "name": workload["name"],
        "image": spec["image"],
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": i["name"], "value": i["value"]} for i in spec.get("environmentVariables") or []],
        "resources": _resources(spec.get("compute") or {}),
        "securityContext": confined(),
        "volumeMounts": mounts,
    }
    # The API's texts are lines of a shell: quoted words, no pipes.
    for key in ("command", "args"):
        if spec.get(key):
            made[key] = shlex.split(spec[key])
    if readiness := (spec.get("probes") or {}).get("readiness"):
        made["readinessProbe"] = {
            "httpGet": readiness["handler"]["httpGet"],
            "periodSeconds": readiness.get("periodSeconds") or 10,
        }
    return made


def _resources(compute: Json) -> Json:
    limits = {"memory": compute.get("cpuMemoryLimit") or "256Mi"}
    parts = compute.get("gpuPortionRequest") or compute.get("gpuMemoryRequest")
    if compute.get("gpuDevicesRequest") and not parts:
        limits["nvidia.com/gpu"] = str(compute["gpuDevicesRequest"])
    requests = {
        "cpu": str(compute.get("cpuCoreRequest") or "10m"),
        "memory": compute.get("cpuMemoryRequest") or "16Mi",
    }
    return {"requests": requests, "limits": limits}


def _person(security: Json) -> Json:
    user = security.get("runAsUid") or _NOBODY
    group = security.get("runAsGid") or user
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": group,
        "fsGroup": group,
        "seccompProfile": {"type": security.get("seccompProfileType") or "RuntimeDefault"},
    }


def _affinity(spec: Json) -> Json:
    required = spec.get("nodeAffinityRequired")
    if not required:
        return {}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def _volumes(spec: Json) -> tuple[list[Json], list[Json]]:
    storage = spec.get("storage") or {}
    found: list[tuple[Json, Json]] = [
        (_claim(item), {"mountPath": item["path"], "readOnly": bool(item.get("readOnly"))})
        for item in storage.get("pvc") or []
    ]
    found += [
        ({"configMap": {"name": item["configMap"]}}, {"mountPath": item["mountPath"], "readOnly": True})
        for item in storage.get("configMapVolume") or []
    ]
    found += [
        ({"secret": _secret(item)}, {"mountPath": item["mountPath"], "readOnly": True})
        for item in storage.get("secretVolume") or []
    ]
    found += [
        ({"emptyDir": _medium(item)}, {"mountPath": item["path"]})
        for item in storage.get("emptyDirVolume") or []
    ]
    if (spec.get("compute") or {}).get("largeShmRequest"):
        found.append(({"emptyDir": {"medium": "Memory"}}, {"mountPath": "/dev/shm"}))
    names = [f"volume-{number}" for number in range(len(found))]
    return (
        [{"name": name, **volume} for name, (volume, _) in zip(names, found, strict=True)],
        [{"name": name, **mount} for name, (_, mount) in zip(names, found, strict=True)],
    )


def _claim(item: Json) -> Json:
    return {"persistentVolumeClaim": {"claimName": item["claimName"], "readOnly": bool(item.get("readOnly"))}}


def _secret(item: Json) -> Json:
    mode = {"defaultMode": int(item["defaultMode"], 8)} if item.get("defaultMode") else {}
    return {"secretName": item["secret"], **mode}


def _medium(item: Json) -> Json:
    return {"medium": item["medium"]} if item.get("medium") else {}


def _pairs(items: list[Json] | None) -> Json:
    return {item["name"]: item["value"] for item in items or []}
