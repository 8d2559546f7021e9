"""Node pools of clusters."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Body, Query, Response

from tests.contract.control_plane.failures import FailureError
from tests.contract.control_plane.state import TENANT, Json, State, filtered, found, new_id, stamps
from tests.contract.control_plane.tokens import guarded

_PATH = "/api/v1/node-pools"


def router(state: State) -> APIRouter:
    """Endpoints below /api/v1/node-pools."""
    routes = guarded(state)

    @routes.get(_PATH)
    def pools(
        filterBy: list[str] = Query(default=[]),  # noqa: B008, N803
        offset: int = 0,
        limit: int = 50,
    ) -> Json:
        items = filtered(state.node_pools.values(), filterBy)
        # The documented answer has no `next`.
        return state.page(items, "nodepools", offset, limit, told=False)

    @routes.post(_PATH, status_code=201)
    def create(body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        for key in ("name", "labelKey", "labelValue", "clusterId"):
            if not body.get(key):
                raise FailureError(400, f"Bad request - {key} is required")
        cluster = found(state.clusters, body["clusterId"], "Cluster")
        if any(
            (item["name"], item["clusterId"]) == (body["name"], body["clusterId"])
            for item in state.node_pools.values()
        ):
            raise FailureError(409, f"Node pool {body['name']} already exists")
        pool = made(body["clusterId"], cluster["name"], body)
        state.node_pools[pool["id"]] = pool
        return pool | {"phase": "Creating"}

    @routes.get(_PATH + "/{id_}")
    def pool(id_: str) -> Json:
        return found(state.node_pools, id_, "Node pool")

    @routes.put(_PATH + "/{id_}")
    def update(id_: str, body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        item = found(state.node_pools, id_, "Node pool")
        if unknown := set(body) - {"labelKey", "labelValue", "schedulingConfiguration"}:
            raise FailureError(400, f"Bad request - {', '.join(sorted(unknown))} not doubled or not allowed")
        item |= body | {"updatedAt": stamps()["updatedAt"]}
        return item | {"phase": "Updating"}

    @routes.delete(_PATH + "/{id_}", status_code=202)
    def remove(id_: str, answer: Response) -> Json:
        item = found(state.node_pools, id_, "Node pool")
        if item["isDefault"]:
            raise FailureError(403, "Forbidden - the default node pool cannot be deleted")
        for unit in [*state.departments.values(), *state.projects.values()]:
            for quota in unit["resources"]:
                if quota["nodePool"]["id"] == id_ and quota["gpu"].get("deserved"):
                    raise FailureError(409, f"Node pool {item['name']} has a quota of {unit['name']}")
        del state.node_pools[id_]
        return {"code": 202, "message": "Accepted"}

    return routes


def made(cluster: str, cluster_name: str, body: Json, default: bool = False) -> Json:
    """A pool as the API tells it; without agents its phase settles at once."""
    return {
        "name": body["name"],
        "labelKey": body["labelKey"],
        "labelValue": body["labelValue"],
        "clusterId": cluster,
        "clusterName": cluster_name,
        "schedulingConfiguration": body.get("schedulingConfiguration")
        or {"placementStrategy": {"gpu": "binpack", "cpu": "binpack"}},
        "phase": "Ready" if default else "Empty",
        "id": new_id(),
        "tenantId": TENANT,
        "isDefault": default,
        "createdBy": "double",
        "updatedBy": "double",
        **stamps(),
    }
