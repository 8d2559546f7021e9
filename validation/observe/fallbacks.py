"""V10: what a person sees who follows the guide: why a pod waits, its log by other ways, the mirror."""

from __future__ import annotations

import re
from typing import Any

from validation import names
from validation.cluster import Cluster, ClusterError
from validation.expect.fallbacks import OPEN_QUEUE, QUEUE
from validation.observe import nodes, pods, queues, teams
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
TEST = "fallbacks"
# KAI's reasons, and the question of the guide that each answers: is quota left, or are all GPUs taken?
CAUSES = {"OverLimit": "quota", "NonPreemptibleOverQuota": "quota", "PodSchedulingErrors": "capacity"}
FAILED = re.compile(r"^Data set: (\S+) does not serve it", re.MULTILINE)
SERVED = re.compile(r"^Data set: served by (\S+)$", re.MULTILINE)
GET = re.compile(r'"GET /\S*?([^/\s]+\.gz) HTTP/[0-9.]+" 200 ')


def quota(at: Snapshot) -> Json:
    """One job runs, the next waits for its queue."""
    held = [pod for pod in nodes.of_role(at, TEST, "in-quota") if pods.running(pod)]
    return {
        **_waiting(at, "over-quota"),
        "running": len(held),
        "allocated": queues.allocated(at.queues.get(QUEUE)),
    }


def capacity(at: Snapshot) -> Json:
    """A pod that no node can hold, in a queue that would let it."""
    asked = sum(pods.gpus(pod) for pod in nodes.of_role(at, TEST, "too-big"))
    limit = queues.resources(at.queues.get(OPEN_QUEUE) or {}, "gpu")["limit"]
    return {**_waiting(at, "too-big"), "asked": asked, "queueLimit": limit}


def _waiting(at: Snapshot, role: str) -> Json:
    seen = teams.pending(at, TEST, role)
    causes = sorted({CAUSES.get(reason, reason) for reason in seen["reasons"]})
    return {**seen, "cause": causes[0] if len(causes) == 1 else causes}


def logs(at: Snapshot) -> Json:
    """What the job wrote, by the path of `kubectl logs` and from the kubelet itself."""
    mine = [pod for pod in nodes.of_role(at, TEST, "in-quota") if pods.running(pod)]
    if not mine:
        return {"error": "no running pod to read a log of"}
    meta, node = mine[0]["metadata"], pods.node(mine[0])
    container = mine[0]["spec"]["containers"][0]["name"]
    kubelet = f"/api/v1/nodes/{node}/proxy/containerLogs/{meta['namespace']}/{meta['name']}/{container}"
    api = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log"
    return {"api": _token(at.cluster, api), "kubelet": _token(at.cluster, kubelet), "pod": meta["name"]}


def _token(cluster: Cluster, path: str) -> str | None:
    try:
        found = re.search(r"^TOKEN=(\S+)$", cluster.text(path), re.MULTILINE)
    except ClusterError as error:
        return str(error)
    return found.group(1) if found else None


def mirror(at: Snapshot) -> Json:
    """Which origins failed and which one served, as the loader says; what the mirror's own log says."""
    loaders = [p for p in at.mine(TEST) if pods.label(p, names.ROLE_LABEL) == "loader"]
    if len(loaders) != 1:
        return {"error": f"expected one loader pod, found {len(loaders)}"}
    said = _log(at.cluster, loaders[0])
    served = SERVED.search(said)
    mirrors = [p for p in at.mine(TEST) if pods.label(p, names.ROLE_LABEL) == "mirror"]
    requests = [name for pod in mirrors for name in GET.findall(_log(at.cluster, pod))]
    return {
        "phase": loaders[0]["status"].get("phase"),
        "failedOrigins": FAILED.findall(said),
        "servedBy": served.group(1) if served else None,
        "filesFromMirror": len(set(requests)),
        "said": said.strip().splitlines()[-8:],
    }


def _log(cluster: Cluster, pod: Json) -> str:
    try:
        return cluster.logs(pod["metadata"]["namespace"], pod["metadata"]["name"])
    except ClusterError as error:
        return f"no log: {error}"
