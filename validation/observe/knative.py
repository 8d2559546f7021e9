"""Knative Services as their status and their pods show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from validation import names
from validation.cluster import Cluster
from validation.observe import pods
from validation.patience import while_hopeful

Json = dict[str, Any]
REVISION_LABEL = "serving.knative.dev/revision"
# Knative takes a pod without a place for a failed Revision; when the place is there, it goes on.
PATIENT = ("Unschedulable",)


def find(cluster: Cluster, namespace: str, name: str) -> Json | None:
    """The Service, None without it."""
    return cluster.find(f"{names.in_namespace(names.KNATIVE_SERVICES, namespace)}/{name}")


def condition(service: Json, kind: str = "Ready") -> Json:
    """{status, reason, message} of a condition; status Unknown before there is one."""
    for entry in service.get("status", {}).get("conditions") or []:
        if entry["type"] == kind:
            return {key: entry.get(key, "") for key in ("status", "reason", "message")}
    return {"status": "Unknown", "reason": "", "message": ""}


def url(service: Json) -> str:
    """The URL that the Service reports, "" before it has one."""
    return str(service.get("status", {}).get("url") or "")


def of_role(cluster: Cluster, test: str, role: str) -> list[Json]:
    """Pods of one role of a test, also those on their way out."""
    return cluster.items(names.PODS, labelSelector=f"{names.TEST_LABEL}={test},{names.ROLE_LABEL}={role}")


def wait_ready(
    cluster: Cluster,
    namespace: str,
    name: str,
    test: str,
    timeout: float,
    say: Callable[[str], None] = print,
    interval: float = 0.5,
    hopeless_after: float = 20.0,
) -> Json:
    """Wait until a Service is Ready, was refused for good for a while, or `timeout` seconds passed.

    {ready, reason, message, url, seconds, why}; `why` is what containers and events say when it is not Ready.
    """
    shown = ""

    def look() -> tuple[Json, Json, list[Json]]:
        service = find(cluster, namespace, name) or {}
        state = condition(service)
        return service, state, of_role(cluster, test, "server") if state["status"] != "True" else []

    def refused(seen: tuple[Json, Json, list[Json]]) -> bool:
        _, state, mine = seen
        final = state["status"] == "False" and state["reason"] not in PATIENT
        return final or any(crashing(pod) for pod in mine)

    def tell(seen: tuple[Json, Json, list[Json]], passed: float) -> None:
        nonlocal shown
        line = f"{seen[1]['status']} {seen[1]['reason']}".strip()
        if line != shown:
            shown = line
            say(f"{test} +{passed:.1f} s: Knative Service {name}: Ready is {line}")

    (service, state, mine), passed, end = while_hopeful(
        look, lambda seen: seen[1]["status"] == "True", refused, tell, timeout, interval, hopeless_after
    )
    why: list[str] = []
    if end != "reached":
        told = [f"{kind}: {said}" for kind, said in unmet(service).items()] + causes(cluster, mine)
        why = list(dict.fromkeys(told)) or ["Knative's controller told nothing of the Service"]
    return {**_summary(service, state), "seconds": round(passed, 1), "why": why}


def _summary(service: Json, state: Json) -> Json:
    return {
        "ready": state["status"],
        "reason": state["reason"],
        "message": state["message"],
        "url": url(service),
        "scheme": urlsplit(url(service)).scheme,
    }


def unmet(service: Json) -> dict[str, str]:
    """What the conditions say that are not met: type -> reason and message."""
    return {
        entry["type"]: f"{entry.get('reason', '')} {' '.join(entry.get('message', '').split())}".strip()
        for entry in service.get("status", {}).get("conditions") or []
        if entry["status"] != "True"
    }


def crashing(pod: Json) -> bool:
    """Has a container failed more than once?"""
    statuses = pod.get("status", {}).get("containerStatuses") or []
    return any(int(s.get("restartCount", 0)) >= 2 for s in statuses)


def causes(cluster: Cluster, mine: list[Json]) -> list[str]:
    """Why pods are not ready: what containers wait for, how they ended, and warnings of the last events."""
    found: list[str] = []
    for pod in mine:
        for status in pod.get("status", {}).get("containerStatuses") or []:
            for state in (status.get("state") or {}, status.get("lastState") or {}):
                for kind in ("waiting", "terminated"):
                    if told := state.get(kind):
                        text = " ".join(str(told.get("message") or "").split())
                        found.append(f"{status['name']}: {told.get('reason', kind)} {text[-400:]}".strip())
        for entry in pod.get("status", {}).get("conditions") or []:
            if entry["status"] != "True" and entry.get("message") and entry["type"] == "PodScheduled":
                found.append(f"{pods.name(pod)}: {entry.get('reason', '')} {entry['message']}")
        meta = pod["metadata"]
        events = cluster.items(
            names.in_namespace(names.EVENTS, meta["namespace"]),
            fieldSelector=f"involvedObject.name={meta['name']},type=Warning",
        )
        found += [f"{e.get('reason')}: {e.get('message')}" for e in events[-2:]]
    return list(dict.fromkeys(found))


def told_by(cluster: Cluster, pod: Json, reason: str) -> list[str]:
    """Who said this of the pod in events: Scheduled is its scheduler's word, Bound that of KAI's binder."""
    meta = pod["metadata"]
    events = cluster.items(
        names.in_namespace(names.EVENTS, meta["namespace"]),
        fieldSelector=f"involvedObject.name={meta['name']}",
    )
    told = {
        str(e.get("reportingComponent") or (e.get("source") or {}).get("component") or "unknown")
        for e in events
        if e.get("reason") == reason and e["involvedObject"].get("uid") == meta["uid"]
    }
    return sorted(told)
