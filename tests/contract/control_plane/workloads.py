"""Trainings: accepted with 202, then phases as the cluster behind the double has them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Body, Query

from tests.contract.control_plane import behind
from tests.contract.control_plane.failures import FailureError
from tests.contract.control_plane.state import TENANT, Json, State, filtered, found, moment, new_id
from tests.contract.control_plane.tokens import guarded

_TRAININGS = "/api/v1/workloads/trainings"
_TIMES = ("createdAt", "updatedAt", "phaseUpdatedAt", "k8sPhaseUpdatedAt")
_KNOWN = (
    *("id", "name", "projectId", "projectName", "departmentId", "departmentName", "clusterId"),
    "namespace",
)


def router(state: State) -> APIRouter:
    """Endpoints below /api/v1/workloads."""
    routes = guarded(state)

    @routes.post(_TRAININGS, status_code=202)
    def submit(body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        cluster = _cluster(state)
        for key in ("name", "projectId", "clusterId", "spec"):
            if key not in body:
                raise FailureError(400, f"Bad request - {key} is required")
        project = found(state.projects, body["projectId"], "Project")
        if project["clusterId"] != body["clusterId"]:
            raise FailureError(400, "Bad request - the project belongs to another cluster")
        _check(body["spec"])
        item = _made(state, project, body)
        if any(other["name"] == item["name"] for other in state.workloads.values()):
            raise FailureError(400, f"Bad request - a workload named {item['name']} exists")
        cluster.submit(item)
        state.workloads[item["id"]] = item
        return _training(item, "Creating")

    @routes.get(_TRAININGS + "/{id_}")
    def training(id_: str) -> Json:
        item = found(state.workloads, id_, "Workload")
        return _training(item, behind.phase(_cluster(state).pods(item))[0])

    @routes.delete(_TRAININGS + "/{id_}", status_code=202)
    def remove(id_: str) -> Json:
        item = found(state.workloads, id_, "Workload")
        if not item["deleted"]:
            _cluster(state).remove(item)
            item["deleted"] = True
        return {"code": 202, "message": "Accepted"}

    @routes.get("/api/v1/workloads")
    def workloads(
        filterBy: list[str] = Query(default=[]),  # noqa: B008, N803
        offset: int = 0,
        limit: int = 50,
    ) -> Json:
        seen = [_seen(state, id_) for id_ in list(state.workloads)]
        return state.page(filtered([s for s in seen if s], filterBy), "workloads", offset, limit)

    @routes.get("/api/v1/workloads/{id_}")
    def workload(id_: str) -> Json:
        found(state.workloads, id_, "Workload")
        seen = _seen(state, id_)
        if seen is None:
            raise FailureError(404, f"Workload {id_} not found")
        return seen

    @routes.get("/api/v1/workloads/{id_}/pods")
    def pods(id_: str, offset: int = 0, limit: int = 50) -> Json:
        item = found(state.workloads, id_, "Workload")
        told = [_pod(item, pod) for pod in _cluster(state).pods(item)]
        return state.page(told, "pods", offset, limit)

    return routes


def _cluster(state: State) -> behind.Behind:
    if state.cluster is None:
        raise FailureError(503, "no cluster behind this double: start it with --kubeconfig and --context")
    return state.cluster


def _check(spec: Json) -> None:
    compute = spec.get("compute") or {}
    devices, portion = compute.get("gpuDevicesRequest", 0), compute.get("gpuPortionRequest")
    if not isinstance(devices, int) or devices < 0:
        raise FailureError(400, "Bad request - gpuDevicesRequest must be a whole number, 0 or more")
    if portion is not None and (not 0 < portion <= 1 or devices < 1):
        raise FailureError(400, "Bad request - gpuPortionRequest is a part of each requested device")
    if not spec.get("image"):
        raise FailureError(400, "Bad request - spec.image is required")


def _made(state: State, project: Json, body: Json) -> Json:
    id_ = new_id()
    prefix = body.get("useGivenNameAsPrefix", False)
    return {
        "id": id_,
        "name": f"{body['name']}-{id_[:5]}" if prefix else body["name"],
        "requestedName": body["name"],
        "projectId": project["id"],
        "projectName": project["name"],
        "departmentId": project["parentId"],
        "departmentName": project["parent"]["name"],
        "clusterId": body["clusterId"],
        "namespace": project["requestedNamespace"] or f"runai-{project['name']}",
        "spec": body["spec"],
        "createdAt": moment(),
        "deleted": False,
    }


def _training(item: Json, phase: str) -> Json:
    return {
        "workloadId": item["id"],
        **{key: item[key] for key in ("name", "requestedName", "projectId", "departmentId", "clusterId")},
        "createdBy": "double",
        "createdAt": item["createdAt"],
        "desiredPhase": "Deleted" if item["deleted"] else "Running",
        "actualPhase": "Deleting" if item["deleted"] else phase,
        "spec": item["spec"],
    }


def _seen(state: State, id_: str) -> Json | None:
    """The workload as lists tell it; one whose pods are gone after its removal is gone itself."""
    item = state.workloads[id_]
    pods = _cluster(state).pods(item)
    if item["deleted"] and not pods:
        del state.workloads[id_]
        return None
    phase, message = behind.phase(pods)
    preemptible = item["spec"].get("preemptibility") != "non-preemptible"
    times = dict.fromkeys(
        ("createdAt", "updatedAt", "phaseUpdatedAt", "k8sPhaseUpdatedAt"), item["createdAt"]
    )
    known = (
        "id",
        "name",
        "projectId",
        "projectName",
        "departmentId",
        "departmentName",
        "clusterId",
        "namespace",
    )
    return {
        **{key: item[key] for key in known},
        **times,
        "type": "Training",
        "tenantId": TENANT,
        "source": "Control-plane",
        "deletedAt": None,
        "priority": 40,
        "priorityClassName": "low",
        "preemptible": preemptible,
        "phase": "Deleting" if item["deleted"] else phase,
        "phaseMessage": message,
        "k8sPhase": phase,
        "conditions": [],
        "runningPods": sum(pod.status.phase == "Running" for pod in pods),
        "requestedPods": {"number": item["spec"].get("parallelism") or 1},
    }


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
        "priorityClassName": "low",
        "nodeName": pod.spec.node_name,
        "containers": [{"name": c.name, "image": c.image} for c in pod.spec.containers],
        "k8sPhase": pod.status.phase,
        "createdAt": when,
        "updatedAt": when,
        "k8sPhaseUpdatedAt": when,
    }
