"""Departments and projects: quotas, order of making and removing, phases."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Body, Query, Response

from tests.contract.control_plane import clusters
from tests.contract.control_plane.failures import FailureError
from tests.contract.control_plane.state import Json, State, clock, filtered, found, new_id, stamps
from tests.contract.control_plane.tokens import guarded

_DEPARTMENTS = "/api/v1/org-unit/departments"
_PROJECTS = "/api/v1/org-unit/projects"
_MADE = "_madeAt"


def router(state: State) -> APIRouter:
    """Endpoints below /api/v1/org-unit."""
    routes = guarded(state)

    @routes.get(_DEPARTMENTS)
    def departments(
        filterBy: list[str] = Query(default=[]),  # noqa: B008, N803
        offset: int = 0,
        limit: int = 50,
    ) -> Json:
        return state.page(filtered(state.departments.values(), filterBy), "departments", offset, limit)

    @routes.post(_DEPARTMENTS, status_code=201)
    def create_department(body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        _check_new(state, body, state.departments)
        item = department(body)
        state.departments[item["id"]] = item
        return item

    @routes.get(_DEPARTMENTS + "/{id_}")
    def get_department(id_: str) -> Json:
        return found(state.departments, id_, "Department")

    @routes.put(_DEPARTMENTS + "/{id_}")
    def put_department(id_: str, body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        item = found(state.departments, id_, "Department")
        return _change(state, item, body, {"description", "resources"})

    @routes.delete(_DEPARTMENTS + "/{id_}", status_code=204)
    def delete_department(id_: str) -> Response:
        item = found(state.departments, id_, "Department")
        if item["name"] == "default":
            raise FailureError(403, "Forbidden - the default department cannot be deleted")
        if any(project["parentId"] == id_ for project in state.projects.values()):
            raise FailureError(409, f"Department {item['name']} still has projects")
        del state.departments[id_]
        return Response(status_code=204)

    @routes.get(_PROJECTS)
    def projects(
        filterBy: list[str] = Query(default=[]),  # noqa: B008, N803
        offset: int = 0,
        limit: int = 50,
    ) -> Json:
        seen = [_seen(state, item) for item in filtered(state.projects.values(), filterBy)]
        return state.page(seen, "projects", offset, limit)

    @routes.post(_PROJECTS, status_code=201)
    def create_project(body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        _check_new(state, body, state.projects)
        parent = found(state.departments, str(body.get("parentId")), "Department")
        if parent["clusterId"] != body["clusterId"]:
            raise FailureError(400, "Bad request - the department belongs to another cluster")
        item = _project(body, parent)
        state.projects[item["id"]] = item
        return _seen(state, item)

    @routes.get(_PROJECTS + "/{id_}")
    def get_project(id_: str) -> Json:
        return _seen(state, found(state.projects, id_, "Project"))

    @routes.put(_PROJECTS + "/{id_}")
    def put_project(id_: str, body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        item = found(state.projects, id_, "Project")
        _change(state, item, body, {"description", "resources", "defaultNodePools"})
        item[_MADE] = clock()
        return _seen(state, item)

    @routes.delete(_PROJECTS + "/{id_}", status_code=202)
    def delete_project(id_: str) -> Response:
        del state.projects[found(state.projects, id_, "Project")["id"]]
        return Response(status_code=202)

    return routes


def department(body: Json) -> Json:
    """A department as the API tells it."""
    return {
        "id": new_id(),
        "name": body["name"],
        "clusterId": body["clusterId"],
        "description": body.get("description", ""),
        "resources": body["resources"],
        "totalResources": _total(body["resources"]),
        **stamps(),
    }


def _project(body: Json, parent: Json) -> Json:
    return {
        **department(body),
        "parentId": parent["id"],
        "parent": {"id": parent["id"], "name": parent["name"]},
        "requestedNamespace": body.get("requestedNamespace"),
        "enforceRunaiScheduler": body.get("enforceRunaiScheduler", True),
        "defaultNodePools": body.get("defaultNodePools", []),
        "effective": {"defaultNodePools": body.get("defaultNodePools", [])},
        _MADE: clock(),
    }


def _seen(state: State, item: Json) -> Json:
    """Ready only when agents could have made it so."""
    over = clock() - item[_MADE] >= state.options.ready_after
    ready = over and clusters.connected(state, item["clusterId"])
    namespace = item["requestedNamespace"] or f"runai-{item['name']}"
    status = (
        {"phase": "Ready", "namespace": namespace, "phaseMessage": None}
        if ready
        else {"phase": "Creating", "namespace": None, "phaseMessage": "waiting for the cluster"}
    )
    return {key: value for key, value in item.items() if key != _MADE} | {"status": status}


def _check_new(state: State, body: Json, others: dict[str, Json]) -> None:
    for key in ("name", "clusterId", "resources"):
        if key not in body:
            raise FailureError(400, f"Bad request - {key} is required")
    found(state.clusters, body["clusterId"], "Cluster")
    if any((i["name"], i["clusterId"]) == (body["name"], body["clusterId"]) for i in others.values()):
        raise FailureError(409, f"{body['name']} already exists")
    _check_resources(state, body["clusterId"], body["resources"])


def _check_resources(state: State, cluster: str, resources: list[Json]) -> None:
    for quota in resources:
        pool = state.node_pools.get((quota.get("nodePool") or {}).get("id", ""))
        if pool is None or pool["clusterId"] != cluster:
            raise FailureError(400, "Bad request - resources name a node pool that the cluster does not have")
        quota["nodePool"]["name"] = pool["name"]
        gpu = quota.setdefault("gpu", {"deserved": 0})
        if gpu.get("deserved", 0) < 0:
            raise FailureError(400, "Bad request - deserved is negative")


def _change(state: State, item: Json, body: Json, allowed: set[str]) -> Json:
    if unknown := set(body) - allowed:
        raise FailureError(400, f"Bad request - {', '.join(sorted(unknown))} not doubled or not allowed")
    if "resources" not in body:
        raise FailureError(400, "Bad request - resources is required")
    _check_resources(state, item["clusterId"], body["resources"])
    item |= body | {"totalResources": _total(body["resources"]), "updatedAt": stamps()["updatedAt"]}
    return item


def _total(resources: list[Json]) -> Json:
    return {"gpuQuota": sum((quota.get("gpu") or {}).get("deserved", 0) for quota in resources)}
