"""V9 MIG and DRA: does the cluster offer parts of GPUs, and does a pod get one?"""

from __future__ import annotations

import re
from typing import Any

from validation import names
from validation.cluster import ClusterError
from validation.observe import nodes
from validation.observe.snapshot import Snapshot
from validation.quantity import parse

Json = dict[str, Any]
TEST = "partitions"
MIG = "nvidia.com/mig-"
UUID = re.compile(r"UUID: (MIG-[0-9A-Za-z/-]+)")


def offered(at: Snapshot) -> Json:
    """MIG resources by node, device classes, and drivers with the number of their devices."""
    mig: dict[str, dict[str, int]] = {}
    for node in at.nodes:
        for resource, amount in (node["status"].get("allocatable") or {}).items():
            if resource.startswith(MIG) and parse(amount) > 0:
                mig.setdefault(node["metadata"]["name"], {})[resource] = int(parse(amount))
    devices: dict[str, int] = {}
    for piece in at.cluster.items(names.RESOURCE_SLICES):
        driver = piece["spec"]["driver"]
        devices[driver] = devices.get(driver, 0) + len(piece["spec"].get("devices") or [])
    classes = sorted(c["metadata"]["name"] for c in at.cluster.items(names.DEVICE_CLASSES))
    return {"mig": mig, "deviceClasses": classes, "devices": devices}


def choice(found: Json) -> Json:
    """One MIG resource and one GPU device class to ask for, "" where there is none."""
    resources = sorted({resource for each in found["mig"].values() for resource in each})
    drivers = {driver for driver, count in found["devices"].items() if count}
    classes = [name for name in found["deviceClasses"] if name in drivers and "gpu" in name]
    return {"mig": resources[0] if resources else "", "deviceClass": classes[0] if classes else ""}


def applicable(chosen: Json) -> dict[str, bool]:
    """Which checks could run here."""
    return {"partitions.mig": bool(chosen["mig"]), "partitions.dra": bool(chosen["deviceClass"])}


def observe(at: Snapshot, found: Json) -> Json:
    """Observations by check id; where nothing is offered, what was looked for."""
    return {"partitions.mig": _mig(at, found), "partitions.dra": _dra(at, found)}


def _mig(at: Snapshot, found: Json) -> Json:
    mine = nodes.of_role(at, TEST, "mig")
    if not mine:
        return {"resources": found["mig"]}
    meta = mine[0]["metadata"]
    try:
        uuids = UUID.findall(at.cluster.execute(meta["namespace"], meta["name"], ["nvidia-smi", "-L"]))
    except ClusterError as error:
        return {"error": str(error)}
    return {
        "phase": mine[0]["status"].get("phase"),
        "devices": len(uuids),
        "uuid": uuids[0] if uuids else None,
    }


def _dra(at: Snapshot, found: Json) -> Json:
    mine = nodes.of_role(at, TEST, "dra")
    if not mine:
        return {"deviceClasses": found["deviceClasses"], "devices": found["devices"]}
    claims = [
        claim
        for claim in at.cluster.items(
            names.in_namespace(names.RESOURCE_CLAIMS, mine[0]["metadata"]["namespace"])
        )
        if any(
            owner.get("name") == mine[0]["metadata"]["name"]
            for owner in claim["metadata"].get("ownerReferences") or []
        )
    ]
    status = claims[0].get("status", {}) if claims else {}
    words = [
        word for word, key in (("allocated", "allocation"), ("reserved", "reservedFor")) if status.get(key)
    ]
    return {"phase": mine[0]["status"].get("phase"), "claim": " and ".join(words) or "untouched"}
