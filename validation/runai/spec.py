"""What the specs of all kinds of workloads have in the API: image, GPUs, storage, user, labels."""

from __future__ import annotations

import shlex
from typing import Any

from validation import names
from validation.quantity import parse
from validation.runai.kinds import KINDS

Json = dict[str, Any]
FILES = "/opt/runai-kit"
# Nobody in particular, as the other driver's pods run: the level `restricted` would admit them.
_USER = 65532


def common(item: Json, test: str) -> Json:
    """`spec` of a workload of any kind; lists that would be empty are left out."""
    found: Json = {
        "image": item["image"],
        "command": shlex.join(item["command"]),
        "compute": compute(item),
        "storage": storage(item),
        "security": {
            "uidGidSource": "custom",
            "runAsUid": _USER,
            "runAsGid": _USER,
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "seccompProfileType": "RuntimeDefault",
        },
        "labels": pairs(_labels(item, test)),
        "annotations": pairs(item.get("annotations") or {}),
        "environmentVariables": pairs(item.get("environment") or {}),
        "nodeAffinityRequired": _nodes(item.get("nodeSelector") or {}),
        "preemptibility": preemptibility(item),
    }
    return {key: value for key, value in found.items() if value}


def compute(item: Json) -> Json:
    """GPUs, processors and memory."""
    found: Json = {
        "cpuCoreRequest": parse(item.get("cpu") or "10m"),
        "cpuMemoryRequest": item.get("memory") or "16Mi",
        "cpuMemoryLimit": item.get("memory") or "128Mi",
    }
    if item.get("largeShm"):
        found["largeShmRequest"] = True
    if item.get("gpuFraction"):
        portion = {"gpuRequestType": "portion", "gpuPortionRequest": item["gpuFraction"]}
        return {**found, "gpuDevicesRequest": 1, **portion}
    if item.get("gpuMemory"):
        memory = {"gpuRequestType": "memory", "gpuMemoryRequest": f"{item['gpuMemory']}Mi"}
        return {**found, "gpuDevicesRequest": 1, **memory}
    return {**found, "gpuDevicesRequest": item.get("gpus") or 0}


def storage(item: Json) -> Json:
    """Claims and files of the project's namespace; Knative mounts claims for reading only."""
    found: Json = {}
    if item.get("pvcs"):
        reads = item["kind"] == "inference"
        found["pvc"] = [
            {"existingPvc": True, "claimName": claim["name"], "path": claim["path"], "readOnly": reads}
            for claim in item["pvcs"]
        ]
    if item.get("files"):
        found["configMapVolume"] = [{"configMap": item["name"], "mountPath": FILES}]
    return found


def readiness(path: str, port: int) -> Json:
    """`probes` of a server that answers at a path when it is ready."""
    handler = {"httpGet": {"path": path, "port": port}}
    return {"readiness": {"handler": handler, "periodSeconds": 1}}


def preemptibility(item: Json) -> str:
    """In the API's words; KAI's priority classes build and inference are not preemptible."""
    named = item.get("priorityClass")
    kept = named in {"build", "inference"} if named else not KINDS[item["kind"]].preemptible
    return "non-preemptible" if kept else "preemptible"


def pairs(texts: Json) -> list[Json]:
    """{name: value} as the API has labels and variables."""
    return [{"name": name, "value": str(value)} for name, value in texts.items()]


def _labels(item: Json, test: str) -> Json:
    return {
        names.MANAGED_BY_LABEL: names.MANAGED_BY,
        names.PART_OF_LABEL: names.PART_OF,
        names.TEST_LABEL: test,
        names.ROLE_LABEL: item["role"],
        **(item.get("labels") or {}),
    }


def _nodes(selector: Json) -> Json:
    if not selector:
        return {}
    terms = [{"key": key, "operator": "In", "values": [str(value)]} for key, value in selector.items()]
    return {"nodeSelectorTerms": [{"matchExpressions": terms}]}
