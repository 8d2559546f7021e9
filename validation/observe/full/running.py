"""What runs of Run:ai, and what keeps the rest from running: releases, hooks, images, pods, volumes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validation import names
from validation.cluster import ClusterError
from validation.observe import pods, stuck
from validation.observe.full.ground import own_namespaces
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
# Reasons of a kubelet that has no image; its message carries the registry's own words.
_NO_IMAGE = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
_ENDED = ("Succeeded",)
# Lines of logs that are read of one container, and pods of which they are read.
_LINES, _LOGS = 20, 5
_FAULTS = re.compile(r"error|fatal|failed|refused|denied|x509|exception", re.IGNORECASE)


def releases(at: Snapshot) -> Json:
    """Helm releases whose newest revision is not deployed, and hook Jobs that failed."""
    stopped: list[str] = []
    failed: list[str] = []
    for namespace in own_namespaces(at):
        stopped += _releases(at, namespace)
        for job in at.cluster.items(names.in_namespace(names.JOBS, namespace)):
            for state in job.get("status", {}).get("conditions") or []:
                if state["type"] == "Failed" and state["status"] == "True" and _hook(job):
                    reason = " ".join(str(state.get(k) or "") for k in ("reason", "message")).strip()
                    failed.append(f"Job {pods.name(job)} ({_hook(job)}): {reason}")
    return {"notDeployed": stopped, "failedHooks": failed}


def _hook(job: Json) -> str:
    return str(pods.annotation(job, "helm.sh/hook") or "")


def _releases(at: Snapshot, namespace: str) -> Iterator[str]:
    """Helm keeps each revision in a Secret, whose labels tell its state."""
    newest: dict[str, tuple[int, str]] = {}
    for meta in at.cluster.metadata(names.in_namespace(names.SECRETS, namespace), labelSelector="owner=helm"):
        labels = meta.get("labels") or {}
        revision = (int(labels.get("version", 0)), str(labels.get("status", "unknown")))
        name = str(labels.get("name", meta["name"]))
        newest[name] = max(newest.get(name, (0, "")), revision)
    for name, (revision_, status) in sorted(newest.items()):
        if status != "deployed":
            yield f"release {namespace}/{name}: revision {revision_} is {status}"


def images(at: Snapshot) -> Json:
    """Containers without an image, with what the registry said."""
    refused = []
    for pod in _mine(at):
        for state in stuck.of_pod(pod):
            if state["reason"] in _NO_IMAGE:
                refused.append(f"{pods.name(pod)}: {_pull_failure(at, pod) or state['message']}")
    return {"refused": list(dict.fromkeys(refused))}


def _pull_failure(at: Snapshot, pod: Json) -> str:
    """While the kubelet backs off, only the event still has the registry's words."""
    meta = pod["metadata"]
    events = at.cluster.items(
        names.in_namespace(names.EVENTS, meta["namespace"]),
        fieldSelector=f"involvedObject.name={meta['name']},reason=Failed",
    )
    told = [
        " ".join(str(e["message"]).split())
        for e in events
        if "Failed to pull" in str(e.get("message")) and e["involvedObject"]["name"] == meta["name"]
    ]
    return told[-1] if told else ""


def workloads(at: Snapshot) -> Json:
    """Pods that do not work for another reason than their image, and volumes without a place."""
    faults, logs = [], 0
    for pod in _mine(at):
        told = _pod_faults(pod)
        if not told:
            continue
        lines = _said(at, pod) if logs < _LOGS else []
        logs += 1
        faults.append(f"{pods.name(pod)}: {'; '.join([*told, *lines])}")
    waiting = [
        f"PersistentVolumeClaim {pods.name(claim)}: {claim.get('status', {}).get('phase', 'unknown')}, class "
        f"{claim['spec'].get('storageClassName') or 'not set'}"
        for namespace in own_namespaces(at)
        for claim in at.cluster.items(names.in_namespace(names.CLAIMS, namespace))
        if claim.get("status", {}).get("phase") != "Bound"
    ]
    return {"faults": faults, "waiting": waiting}


def _pod_faults(pod: Json) -> list[str]:
    status = pod.get("status", {})
    if status.get("phase") in _ENDED:
        return []
    if status.get("phase") == "Failed":
        return [f"{status.get('reason') or 'Failed'} {status.get('message') or ''}".strip()]
    return [
        f"{w['reason']} {w['message']}".strip() for w in stuck.of_pod(pod) if w["reason"] not in _NO_IMAGE
    ]


def _said(at: Snapshot, pod: Json) -> list[str]:
    """The last fault in the log of each container that failed, those that prepare first."""
    status = pod.get("status", {})
    both = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    failing = [s["name"] for s in both if _failed(s)]
    told = []
    for name in failing:
        meta = pod["metadata"]
        try:
            lines = at.cluster.logs(meta["namespace"], meta["name"], _LINES, name).splitlines()
        except ClusterError:
            continue
        told += [f"{name}: {line.strip()[:300]}" for line in lines if _FAULTS.search(line)][-1:]
    return told


def _failed(status: Json) -> bool:
    states = [(status.get(when) or {}).get("terminated") or {} for when in ("state", "lastState")]
    return any(ended.get("exitCode") for ended in states)


def _mine(at: Snapshot) -> list[Json]:
    here = own_namespaces(at)
    return [p for p in at.pods if p["metadata"]["namespace"] in here]
