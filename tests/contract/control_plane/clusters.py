"""Registration of clusters, what to install them with, and their state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from tests.contract.control_plane.failures import FailureError
from tests.contract.control_plane.state import TENANT, Json, State, clock, found, moment, new_id, new_secret
from tests.contract.control_plane.tokens import guarded

_CAPTURE = Path(__file__).with_name("captures") / "cluster-connected.json"


class NewCluster(BaseModel):
    """The body of a registration."""

    name: str
    domain: str = ""
    version: str = ""


def router(state: State) -> APIRouter:
    """Endpoints below /api/v1/clusters."""
    routes = guarded(state)

    @routes.get("/api/v1/clusters")
    def clusters() -> list[Json]:
        return [_seen(state, uuid) for uuid in state.clusters]

    @routes.post("/api/v1/clusters", status_code=201)
    def register(new: NewCluster) -> Json:
        # Not documented: the API's document has no 409 for a name in use.
        if any(item["name"] == new.name for item in state.clusters.values()):
            raise FailureError(400, f"Bad request - a cluster named {new.name} exists")
        uuid = new_id()
        now = moment()
        state.clusters[uuid] = {
            "uuid": uuid,
            "tenantId": TENANT,
            "name": new.name,
            "domain": new.domain,
            "version": new.version,
            "createdAt": now,
            "updatedAt": now,
            "status": {"state": "WaitingToConnect"},
        }
        state.secrets[uuid] = new_secret()
        _default_objects(state, uuid, new.name)
        return state.clusters[uuid]

    @routes.get("/api/v1/clusters/{uuid}")
    def cluster(uuid: str) -> Json:
        found(state.clusters, uuid, "Cluster")
        return _seen(state, uuid)

    @routes.get("/api/v1/clusters/{uuid}/cluster-install-info")
    def install_info(uuid: str, version: str, remoteClusterUrl: str = "") -> Json:  # noqa: N803
        item = found(state.clusters, uuid, "Cluster")
        state.installed.setdefault(uuid, clock())
        item["version"] = version
        item["domain"] = remoteClusterUrl or item["domain"]
        return {
            "installationStr": f"helm upgrade -i runai-cluster runai/runai-cluster --version {version}",
            "repositoryName": "runai",
            "chartRepoURL": "https://helm.ngc.nvidia.com/nvidia/runai-oss",
            "clientSecret": state.secrets[uuid],
        }

    @routes.delete("/api/v1/clusters/{uuid}", status_code=204)
    def remove(uuid: str) -> Response:
        found(state.clusters, uuid, "Cluster")
        if any(item["clusterId"] == uuid for item in state.projects.values()):
            raise FailureError(403, "Forbidden - the cluster still has projects")
        for items in (state.node_pools, state.departments):
            for id_ in [id_ for id_, item in items.items() if item["clusterId"] == uuid]:
                del items[id_]
        del state.clusters[uuid]
        return Response(status_code=204)

    return routes


def connected(state: State, uuid: str) -> bool:
    """Whether the cluster's agents have reported."""
    return bool(_seen(state, uuid)["status"]["state"] == "Connected")


def told(state: State, uuid: str, status: dict[str, Any]) -> None:
    """What the agents report from now on."""
    found(state.clusters, uuid, "Cluster")["status"] = status


def _seen(state: State, uuid: str) -> Json:
    item = state.clusters[uuid]
    asked, after = state.installed.get(uuid), state.options.connect_after
    waiting = item["status"]["state"] == "WaitingToConnect"
    if waiting and asked is not None and 0 <= after <= clock() - asked:
        item.update(json.loads(_CAPTURE.read_text(encoding="utf-8")))
    return item


def _default_objects(state: State, uuid: str, name: str) -> None:
    """Every cluster has a node pool and a department called default (documented)."""
    from tests.contract.control_plane import node_pools, org_units

    pool = node_pools.made(uuid, name, {"name": "default", "labelKey": "", "labelValue": ""}, default=True)
    # A pool's label has at least one character; the default pool's is not documented.
    pool |= {"labelKey": "runai.default/pool", "labelValue": "default"}
    state.node_pools[pool["id"]] = pool
    quota = {"nodePool": {"id": pool["id"], "name": "default"}, "gpu": {"deserved": 0, "limit": None}}
    department = org_units.department(
        {"name": "default", "clusterId": uuid, "description": "", "resources": [quota]}
    )
    state.departments[department["id"]] = department
