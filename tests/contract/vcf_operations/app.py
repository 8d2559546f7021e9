"""The double as one application; whatever changes something is not there, and would be a 404."""

from __future__ import annotations

import time

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import Response

from tests.contract.control_plane import failures
from tests.contract.control_plane.failures import FailureError
from tests.contract.control_plane.journal import Recorder
from tests.contract.vcf_operations.state import Json, State

BASE = "/suite-api/api"


def application(state: State) -> FastAPI:
    """The application over what the state knows."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    failures.install(app, state.journal)
    app.include_router(_tokens(state), prefix=BASE)
    app.include_router(_inventory(state), prefix=BASE)
    app.add_middleware(Recorder, journal=state.journal)
    return app


def _tokens(state: State) -> APIRouter:
    routes = APIRouter()

    @routes.post("/auth/token/acquire")
    async def acquire(request: Request) -> Json:
        given = await request.json()
        known = (state.username, state.password, state.source)
        if (given.get("username"), given.get("password"), given.get("authSource", "LOCAL")) != known:
            raise FailureError(401, "The provided username/password or token is not valid")
        return state.token()

    @routes.post("/auth/token/release")
    async def release(request: Request) -> Response:
        state.tokens.pop(_bearer(state, request), None)
        return Response(status_code=200)

    return routes


def _inventory(state: State) -> APIRouter:
    def guard(request: Request) -> None:
        _bearer(state, request)

    routes = APIRouter(dependencies=[Depends(guard)])

    @routes.get("/adapterkinds")
    async def adapter_kinds() -> Json:
        return {"adapter-kind": [{"key": key, "name": name} for key, name in state.kinds.items()]}

    @routes.get("/adapters")
    async def adapters(adapterKindKey: str = "") -> Json:  # noqa: N803 (the API's name)
        found = [
            item for item in state.adapters if adapterKindKey in ("", item["resourceKey"]["adapterKindKey"])
        ]
        return {"adapterInstancesInfoDto": found}

    @routes.get("/resources")
    async def resources(
        name: str = "",
        parentId: str = "",  # noqa: N803 (the API's name)
        page: int = 0,
        pageSize: int = 1000,  # noqa: N803 (the API's name)
    ) -> Json:
        found = [
            item
            for id_, item in state.resources.items()
            # Part of a name is enough for the API.
            if name in item["resourceKey"]["name"] and parentId in ("", state.parents.get(id_))
        ]
        size = min(pageSize, state.page)
        told = {"totalCount": len(found), "page": page, "pageSize": size}
        return {"pageInfo": told, "resourceList": found[page * size : (page + 1) * size]}

    @routes.get("/resources/{id_}/stats/latest")
    async def latest(id_: str) -> Json:
        if id_ not in state.resources:
            raise FailureError(404, f"No such Resource - {id_}")
        if id_ not in state.samples:
            return {"values": []}
        stat = {"statKey": {"key": "cpu|usage"}, "timestamps": [state.samples[id_]], "data": [1.0]}
        return {"values": [{"resourceId": id_, "stat-list": {"stat": [stat]}}]}

    return routes


def _bearer(state: State, request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    state.schemes.add(scheme)
    if scheme != "OpsToken" or state.tokens.get(token, 0.0) <= time.monotonic():
        raise FailureError(401, "The token is missing, unknown or expired")
    return token
