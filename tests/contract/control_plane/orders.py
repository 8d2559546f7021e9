"""`/_double/...`: what a test or a person tells the double to do. No part of the API."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Body

from tests.contract.control_plane import clusters
from tests.contract.control_plane.failures import Fault
from tests.contract.control_plane.state import Json, State


def router(state: State) -> APIRouter:
    """Faults, a cluster's status, lost tokens."""
    routes = APIRouter(prefix="/_double")

    @routes.post("/faults")
    def fault(body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        state.journal.faults.append(Fault(**body))
        return {"faults": len(state.journal.faults)}

    @routes.post("/clusters/{uuid}/status")
    def status(uuid: str, body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        clusters.told(state, uuid, body)
        return body

    @routes.delete("/tokens")
    def forget() -> Json:
        state.tokens.clear()
        return {}

    return routes
