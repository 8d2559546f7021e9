"""Workloads: accepted with 202, then phases as the cluster behind the double has them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Body, Query, Request

from tests.contract.control_plane import behind, phases, requested
from tests.contract.control_plane.failures import FailureError
from tests.contract.control_plane.kinds import INFERENCE, KINDS, Kind
from tests.contract.control_plane.rendered.pod import devices, preemptible
from tests.contract.control_plane.state import TENANT, Json, State, filtered, found, moment, new_id
from tests.contract.control_plane.tokens import guarded

_BASE = "/api/v1/workloads"
_TIMES = ("createdAt", "updatedAt", "phaseUpdatedAt", "k8sPhaseUpdatedAt")
_KNOWN = (
    *("id", "name", "type", "projectId", "projectName", "departmentId", "departmentName", "clusterId"),
    "namespace",
)
_LOGIN = "auth/realms/runai/protocol/openid-connect/auth"


def router(state: State) -> APIRouter:
    """Endpoints below /api/v1/workloads."""
    routes = guarded(state)
    for kind in KINDS.values():
        _of_kind(routes, state, kind)

    @routes.get(_BASE)
    def workloads(
        filterBy: list[str] = Query(default=[]),  # noqa: B008, N803
        offset: int = 0,
        limit: int = 50,
    ) -> Json:
        seen = [_seen(state, id_) for id_ in list(state.workloads)]
        return state.page(filtered([s for s in seen if s], filterBy), "workloads", offset, limit)

    @routes.get(_BASE + "/{id_}")
    def workload(id_: str) -> Json:
        found(state.workloads, id_, "Workload")
        seen = _seen(state, id_)
        if seen is None:
            raise FailureError(404, f"Workload {id_} not found")
        return seen

    @routes.get(_BASE + "/{id_}/pods")
    def pods(id_: str, offset: int = 0, limit: int = 50) -> Json:
        item = found(state.workloads, id_, "Workload")
        told = [_pod(item, pod) for pod in _cluster(state).pods(item)]
        return state.page(told, "pods", offset, limit)

    return routes


def _of_kind(routes: APIRouter, state: State, kind: Kind) -> None:
    """Submit, read and remove workloads of one kind."""
    place = f"{_BASE}/{kind.path}"

    def one(id_: str) -> Json:
        item = found(state.workloads, id_, kind.type)
        if item["type"] != kind.type:
            raise FailureError(404, f"{kind.type} {id_} not found")
        return item

    @routes.post(place, status_code=202)
    def submit(request: Request, body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        cluster = _cluster(state)
        for key in ("name", "projectId", "clusterId", "spec"):
            if key not in body:
                raise FailureError(400, f"Bad request - {key} is required")
        project = found(state.projects, body["projectId"], "Project")
        if project["clusterId"] != body["clusterId"]:
            raise FailureError(400, "Bad request - the project belongs to another cluster")
        requested.check(kind, body["spec"])
        item = _made(state, kind, project, body)
        item["login"] = f"{request.base_url}{_LOGIN}"
        if any(other["name"] == item["name"] for other in state.workloads.values()):
            raise FailureError(400, f"Bad request - a workload named {item['name']} exists")
        cluster.submit(item)
        state.workloads[item["id"]] = item
        return _submitted(item, "Creating")

    @routes.get(place + "/{id_}")
    def read(id_: str) -> Json:
        item = one(id_)
        return _submitted(item, _phase(state, item)[0])

    @routes.delete(place + "/{id_}", status_code=202)
    def remove(id_: str) -> Json:
        item = one(id_)
        if not item["deleted"]:
            _cluster(state).remove(item)
            item["deleted"] = True
        return {"code": 202, "message": "Accepted"}


def _cluster(state: State) -> behind.Behind:
    if state.cluster is None:
        raise FailureError(503, "no cluster behind this double: start it with --kubeconfig and --context")
    return state.cluster


def _made(state: State, kind: Kind, project: Json, body: Json) -> Json:
    id_ = new_id()
    prefix = body.get("useGivenNameAsPrefix", False)
    return {
        "id": id_,
        "type": kind.type,
        "name": f"{body['name']}-{id_[:5]}" if prefix else body["name"],
        "requestedName": body["name"],
        "projectId": project["id"],
        "projectName": project["name"],
        "departmentId": project["parentId"],
        "departmentName": project["parent"]["name"],
        "clusterId": body["clusterId"],
        "domain": state.clusters[body["clusterId"]]["domain"],
        "namespace": project["requestedNamespace"] or f"runai-{project['name']}",
        "spec": body["spec"],
        "createdAt": moment(),
        "deleted": False,
    }


def _submitted(item: Json, phase: str) -> Json:
    """The workload as the endpoints of its kind tell it."""
    return {
        "workloadId": item["id"],
        **{key: item[key] for key in ("name", "requestedName", "projectId", "departmentId", "clusterId")},
        "createdBy": "double",
        "createdAt": item["createdAt"],
        "desiredPhase": "Deleted" if item["deleted"] else "Running",
        "actualPhase": "Deleting" if item["deleted"] else phase,
        "spec": item["spec"],
    }


def _phase(state: State, item: Json) -> tuple[str, str]:
    cluster = _cluster(state)
    pods = cluster.pods(item)
    if item["type"] == INFERENCE.type:
        return phases.of_service(cluster.served(item), pods)
    return phases.of_pods(pods)


def _seen(state: State, id_: str) -> Json | None:
    """The workload as lists tell it; one whose pods are gone after its removal is gone itself."""
    item = state.workloads[id_]
    kind = KINDS[item["type"]]
    pods = _cluster(state).pods(item)
    if item["deleted"] and not pods:
        del state.workloads[id_]
        return None
    phase, message = _phase(state, item)
    running = sum(p.status.phase == "Running" and not p.metadata.deletion_timestamp for p in pods)
    return {
        **{key: item[key] for key in _KNOWN},
        **dict.fromkeys(_TIMES, item["createdAt"]),
        "tenantId": TENANT,
        "source": "Control-plane",
        "deletedAt": None,
        "priority": kind.priority,
        "priorityClassName": kind.priority_class,
        "preemptible": preemptible(item),
        "phase": "Deleting" if item["deleted"] else phase,
        "phaseMessage": message,
        "k8sPhase": phase,
        "conditions": [],
        "runningPods": running,
        "requestedPods": _requested(item),
        "allocatedResources": {"gpu": running * devices(item)},
        "urls": _urls(state, item),
    }


def _requested(item: Json) -> Json:
    if item["type"] != INFERENCE.type:
        return {"number": item["spec"].get("parallelism") or 1}
    scaling = item["spec"].get("autoscaling") or {}
    least = scaling.get("minReplicas")
    least = 1 if least is None else least
    return {"min": least, "max": scaling.get("maxReplicas") or max(1, least)}


def _urls(state: State, item: Json) -> list[str]:
    """Where the workload answers: as Knative says, else below the cluster's domain."""
    if item["type"] == INFERENCE.type:
        url = _cluster(state).served(item).get("url")
        return [url] if url else []
    domain = urlsplit(item["domain"]).hostname
    name = f"{item['name']}-{item['namespace']}.{domain}"
    return [url.get("url") or f"https://{name}/" for url in item["spec"].get("exposedUrls") or []]


def _pod(item: Json, pod: Any) -> Json:
    when = pod.metadata.creation_timestamp.isoformat()
    return {
        "id": pod.metadata.uid,
        "name": pod.metadata.name,
        "workloadId": item["id"],
        "workloadName": item["name"],
        "clusterId": item["clusterId"],
        "projectId": item["projectId"],
        "projectName": item["projectName"],
        "tenantId": TENANT,
        "priorityClassName": KINDS[item["type"]].priority_class,
        "nodeName": pod.spec.node_name,
        "containers": [{"name": c.name, "image": c.image} for c in pod.spec.containers],
        "k8sPhase": pod.status.phase,
        "createdAt": when,
        "updatedAt": when,
        "k8sPhaseUpdatedAt": when,
    }
