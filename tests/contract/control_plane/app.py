"""The double as one application."""

from __future__ import annotations

from fastapi import FastAPI

from tests.contract.control_plane import (
    accounts,
    clusters,
    failures,
    node_pools,
    orders,
    org_units,
    tokens,
    workloads,
)
from tests.contract.control_plane.behind import Behind
from tests.contract.control_plane.journal import Recorder
from tests.contract.control_plane.options import Options
from tests.contract.control_plane.state import State


def application(options: Options) -> tuple[FastAPI, State]:
    """The application and what it knows."""
    state = State(options)
    if options.kubeconfig is not None:
        state.cluster = Behind(options.kubeconfig, options.context)
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    failures.install(app, state.journal)
    for part in (tokens, clusters, node_pools, org_units, accounts, workloads, orders):
        app.include_router(part.router(state))
    app.add_middleware(Recorder, journal=state.journal)
    return app, state
