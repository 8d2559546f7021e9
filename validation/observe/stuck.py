"""Why pods that the scheduler is not to blame for do not run: images, containers, admission."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.cluster import Cluster
from validation.observe import pods

Json = dict[str, Any]
# Of a Job whose pods are not even admitted; no reason of Kubernetes', so that it is never taken for one.
REFUSED = "RefusedByAdmission"
# What a container says on its usual way to running.
USUAL = ("ContainerCreating", "PodInitializing")


def of_pod(pod: Json) -> list[Json]:
    """What a pod that does not run says of itself: its containers once placed, its conditions before."""
    status = pod.get("status", {})
    if not pods.node(pod):
        unmet = [c for c in status.get("conditions") or [] if c.get("status") == "False"]
        return [_reason(c.get("reason", c["type"]), c["message"]) for c in unmet if c.get("message")]
    containers = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    waiting = [c["state"]["waiting"] for c in containers if "waiting" in (c.get("state") or {})]
    unusual = [w for w in waiting if w.get("reason", USUAL[0]) not in USUAL]
    return [_reason(w["reason"], w.get("message", "")) for w in unusual]


def of_bindings(cluster: Cluster, mine: list[Json]) -> dict[str, list[Json]]:
    """By uid of pods that have no node: what KAI's binder says of its last attempt.

    While it tries again it calls the pod bound in the pod's own condition (KAI 0.12), so its request tells.
    """
    wanted = {(pod["metadata"]["namespace"], pod["metadata"]["name"]): pod["metadata"]["uid"] for pod in mine}
    found: dict[str, list[Json]] = {}
    for request in cluster.items(names.BIND_REQUESTS) if wanted else []:
        uid = wanted.get((request["metadata"]["namespace"], request["spec"]["podName"]))
        status = request.get("status") or {}
        if uid and status.get("phase") == "Failed" and status.get("reason"):
            found.setdefault(uid, []).append(_reason("BindingError", status["reason"]))
    return found


def of_jobs(cluster: Cluster, test: str, roles: list[str]) -> dict[str, list[Json]]:
    """By role: what the Job controller says of pods that it cannot make."""
    jobs = {
        job["metadata"]["uid"]: pods.label(job, names.ROLE_LABEL) or ""
        for job in cluster.items(names.JOBS, labelSelector=f"{names.TEST_LABEL}={test}")
    }
    found: dict[str, list[Json]] = {}
    for event in cluster.items(names.EVENTS, fieldSelector="reason=FailedCreate") if jobs else []:
        role = jobs.get(event["involvedObject"].get("uid", ""))
        if role in roles:
            message = event.get("message", "")
            final = "denied the request" in message or "is forbidden" in message
            found.setdefault(str(role), []).append(_reason(REFUSED if final else "FailedCreate", message))
    return found


def _reason(reason: str, message: str) -> Json:
    return {"reason": reason, "message": message, "queue": "", "limit": None}
