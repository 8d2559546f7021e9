"""`POST /api/v2/token`, and who may ask what. Only form-encoded bodies, as documented."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request

from tests.contract.control_plane.failures import FailureError
from tests.contract.control_plane.state import Json, State, clock, new_secret

_ADMIN = "admin"


def router(state: State) -> APIRouter:
    """The token endpoint."""
    routes = APIRouter()

    @routes.post("/api/v2/token")
    async def grant(request: Request) -> Json:
        if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            raise FailureError(400, "Bad request - the body must be application/x-www-form-urlencoded")
        form = {key: values[0] for key, values in parse_qs((await request.body()).decode()).items()}
        who = _who(state, form)
        token, lasts = new_secret(), state.options.token_seconds
        state.tokens[token] = (who, clock() + lasts)
        return {"access_token": token, "token_type": "Bearer", "expires_in": max(int(lasts), 1)}

    return routes


def _who(state: State, form: dict[str, str]) -> str:
    kind = form.get("grant_type")
    if kind == "password":
        known = (state.options.username, state.options.password)
        if not known[1] or (form.get("username"), form.get("password")) != known:
            raise FailureError(401, "Invalid user credentials")
        return _ADMIN
    if kind == "client_credentials":
        for account in state.accounts.values():
            given = (form.get("client_id"), form.get("client_secret"))
            if account["enabled"] and (account["clientId"], state.secrets[account["id"]]) == given:
                return str(account["id"])
        raise FailureError(401, "Invalid client or Invalid client credentials")
    raise FailureError(400, f"Unsupported grant_type {kind}")


def bearer(state: State) -> Callable[[Request], str]:
    """A dependency of every other endpoint: 401 without a live token, 403 without any access rule."""

    def check(request: Request) -> str:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        who, until = state.tokens.get(token, ("", 0.0))
        if scheme != "Bearer" or not who or clock() >= until:
            raise FailureError(401, "Unauthorized - the token is missing, unknown or expired")
        if who != _ADMIN and not any(rule["subjectId"] == who for rule in state.rules.values()):
            raise FailureError(403, "Forbidden - no access rule allows this")
        return who

    return check


def guarded(state: State) -> APIRouter:
    """A router whose endpoints all need a token."""
    return APIRouter(dependencies=[Depends(bearer(state))])
