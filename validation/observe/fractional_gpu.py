"""V2 as the API, the containers and the kubelet show it."""

from __future__ import annotations

import re
from typing import Any

from validation import names
from validation.cluster import Cluster, ClusterError
from validation.observe import pods, queues
from validation.observe.kubelet import uuids_of_pod
from validation.observe.snapshot import Snapshot
from validation.quantity import parse, tidy

Json = dict[str, Any]
TEST = "fractional_gpu"
# The guide compares this line of both pods; the portion comes from KAI's config map by environment.
PROBE = ["bash", "-c", 'nvidia-smi -L; echo "GPU_PORTION=${GPU_PORTION:-}"']
# A GPU of which others hold no more than this has room for a half.
ROOM = 0.5
UUID = re.compile(r"UUID: ((?:GPU|MIG)-[0-9A-Za-z/-]+)")


def before(at: Snapshot) -> Json:
    """The moment before the test: who holds GPUs, what each queue has allocated, others' GPUs with room."""
    return {
        "holders": {p["metadata"]["uid"]: pods.gpus(p) for p in at.pods if pods.active(p) and pods.gpus(p)},
        "allocated": {name: queues.allocated(queue) for name, queue in at.queues.items()},
        "roomy": roomy(at),
    }


def observe(at: Snapshot, then: Json, queue: str) -> Json:
    """Observations by check id; `then` is what before() returned."""
    mine = [p for p in at.mine(TEST) if pods.active(p)]
    inside = {pods.name(p): _inside(at.cluster, p) for p in mine if pods.running(p)}
    return {
        "fractional_gpu.running": {
            "running": sum(map(pods.running, mine)),
            "nodes": len({pods.node(p) for p in mine}),
            "pods": {pods.name(p): f"{p['status'].get('phase')} on {pods.node(p)}" for p in mine},
        },
        "fractional_gpu.group": _group(at, mine),
        "fractional_gpu.uuid": _uuids(at, mine, inside),
        "fractional_gpu.portion": {
            "portions": sorted(seen["portion"] for seen in inside.values()),
            "queueAllocated": tidy(queues.allocated(at.queues.get(queue)) - then["allocated"].get(queue, 0)),
            "podGroups": sorted(_group_gpus(at, p) for p in mine),
        },
        "fractional_gpu.shares": {"overCommitted": over_committed(at), "sums": share_sums(at)},
        "fractional_gpu.others_free": _newly_held(at, then),
    }


def roomy(at: Snapshot) -> list[str]:
    """GPUs that others share and that have room for a half, on nodes that tests may use, in words.

    A half goes there before it goes to a free GPU, and the next one, which fits no more, to another.
    """
    others: dict[str, list[Json]] = {}
    for pod in at.pods:
        if pods.active(pod) and not pods.of_suite(pod) and pods.node(pod) in at.capacity.allocatable:
            for group in pods.gpu_groups(pod):
                others.setdefault(group, []).append(pod)
    found = []
    for group, mine in sorted(others.items()):
        sharers = [p for p in mine if p["metadata"]["namespace"] != at.outputs.reservationNamespace]
        held = sum(_share(at, pod) for pod in sharers)
        if sharers and held <= ROOM:
            who = ", ".join(sorted(map(pods.name, sharers)))
            found.append(f"{who} on {pods.node(sharers[0])} with {tidy(held)} of group {group}")
    return found


def _inside(cluster: Cluster, pod: Json) -> Json:
    """What the container itself says."""
    meta = pod["metadata"]
    try:
        said = cluster.execute(meta["namespace"], meta["name"], PROBE)
    except ClusterError as error:
        return {"uuids": [], "portion": "", "said": str(error)}
    portion = re.search(r"GPU_PORTION=(\S*)", said)
    return {"uuids": UUID.findall(said), "portion": portion.group(1) if portion else "", "said": said.strip()}


def _groups(mine: list[Json]) -> set[str]:
    return {g for p in mine if (g := pods.label(p, names.GPU_GROUP_LABEL))}


def _reservations(at: Snapshot, groups: set[str]) -> list[Json]:
    return [r for r in at.reservations if pods.active(r) and pods.label(r, names.GPU_GROUP_LABEL) in groups]


def _group(at: Snapshot, mine: list[Json]) -> Json:
    groups = _groups(mine)
    reserved = _reservations(at, groups)
    return {
        # A pod without a group is a group of its own, so that one label missing is not "one group".
        "groups": len(groups) + sum(1 for p in mine if not pods.label(p, names.GPU_GROUP_LABEL)),
        "reservationPods": len(reserved),
        "reservationOnSameNode": {pods.node(r) for r in reserved} == {pods.node(p) for p in mine},
        "names": [pods.name(r) for r in reserved],
        "why": [f"reservation pod {pods.name(r)}" for r in reserved],
    }


def _uuids(at: Snapshot, mine: list[Json], inside: dict[str, Json]) -> Json:
    in_smi = [seen["uuids"][0] for seen in inside.values() if len(seen["uuids"]) == 1]
    in_logs = [u for p in mine if (u := _from_log(at.cluster, p))]
    in_maps = [u for p in mine if (u := _from_config_map(at.cluster, p))]
    reserved = _reservations(at, _groups(mine))
    in_annotation = [a for r in reserved if (a := pods.annotation(r, names.RESERVED_GPU_ANNOTATION))]
    told = [uuids_of_pod(at.cluster, reservation) for reservation in reserved]
    in_kubelet = [uuid for one in told for uuid in one.uuids]
    values = {
        "nvidiaSmi": in_smi,
        "logs": in_logs,
        "configMaps": in_maps,
        "annotation": in_annotation,
        "kubelet": in_kubelet,
    }
    return {
        "distinct": len({uuid for found in values.values() for uuid in found}),
        "why": [f"{where} {', '.join(dict.fromkeys(found)) or 'nothing'}" for where, found in values.items()],
        "nvidiaSmi": len(in_smi),
        "logs": len(in_logs),
        "configMaps": len(in_maps),
        "annotation": len(in_annotation),
        "kubelet": len(in_kubelet),
        "kubeletBy": ", ".join(sorted({one.by for one in told})) or "no reservation pod",
        "kubeletSource": ", ".join(one.where for one in told),
        "values": values,
        "said": {name: seen["said"] for name, seen in inside.items()},
    }


def _from_log(cluster: Cluster, pod: Json) -> str | None:
    try:
        found = UUID.findall(cluster.logs(pod["metadata"]["namespace"], pod["metadata"]["name"]))
    except ClusterError:
        return None
    return str(found[0]) if len(found) == 1 else None


def _from_config_map(cluster: Cluster, pod: Json) -> str | None:
    """NVIDIA_VISIBLE_DEVICES that KAI's binder wrote for the pod's first container."""
    prefix = pods.annotation(pod, names.SHARED_GPU_ANNOTATION)
    if not prefix:
        return None
    maps = cluster.items(names.in_namespace(names.CONFIG_MAPS, pod["metadata"]["namespace"]))
    values = {
        m["data"]["NVIDIA_VISIBLE_DEVICES"]
        for m in maps
        if m["metadata"]["name"].startswith(prefix) and "NVIDIA_VISIBLE_DEVICES" in (m.get("data") or {})
    }
    # With CDI the value is k8s.device-plugin.nvidia.com/gpu=<uuid>.
    return str(values.pop()).rpartition("=")[2] if len(values) == 1 else None


def _group_gpus(at: Snapshot, pod: Json) -> int | float:
    return queues.group_gpus(queues.group_of(pod, at.groups))


def share_sums(at: Snapshot) -> dict[str, int | float]:
    """Sum of shares per GPU over all pods of the cluster; the key is the UUID, else the group."""
    uuid_of = {
        pods.label(r, names.GPU_GROUP_LABEL): pods.annotation(r, names.RESERVED_GPU_ANNOTATION)
        for r in at.reservations
    }
    sums: dict[str, float] = {}
    for pod in at.pods:
        if pods.active(pod) and pod["metadata"]["namespace"] != at.outputs.reservationNamespace:
            for group in pods.gpu_groups(pod):
                key = uuid_of.get(group) or group
                sums[key] = sums.get(key, 0.0) + _share(at, pod)
    return {key: tidy(value) for key, value in sums.items()}


def _share(at: Snapshot, pod: Json) -> float:
    """Of each of its devices; what is asked for in MiB is a share of what the node says of its GPUs."""
    if asked := pods.memory(pod):
        has = next(
            (
                pods.label(n, names.GPU_MEMORY_LABEL)
                for n in at.nodes
                if n["metadata"]["name"] == pods.node(pod)
            ),
            None,
        )
        return asked / parse(has) if has else 0.0
    return pods.fraction(pod) / pods.devices(pod)


def over_committed(at: Snapshot) -> dict[str, int | float]:
    """GPUs whose fractions add up to more than one."""
    return {key: value for key, value in share_sums(at).items() if value > 1}


def _newly_held(at: Snapshot, then: Json) -> Json:
    """Whole GPUs that pods hold now and did not hold before the test, on the nodes that tests may use."""
    new = [
        p
        for p in at.pods
        if pods.active(p)
        and pods.node(p) in at.capacity.allocatable
        and pods.gpus(p)
        and p["metadata"]["uid"] not in then["holders"]
    ]
    held = pods.held_by_node(at.pods)
    outside = [pods.name(p) for p in new if p["metadata"]["namespace"] != at.outputs.reservationNamespace]
    return {
        "newlyHeld": sum(map(pods.gpus, new)),
        "holders": outside or "reservation pods only",
        "free": at.capacity.total - sum(held.get(name, 0) for name in at.capacity.allocatable),
    }
