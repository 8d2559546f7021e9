"""Service accounts, roles and access rules."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Body, Response

from tests.contract.control_plane.failures import FailureError
from tests.contract.control_plane.state import TENANT, Json, State, found, new_id, new_secret, stamps
from tests.contract.control_plane.tokens import guarded

_ACCOUNTS = "/api/v1/service-accounts"
_RULES = "/api/v1/authorization/access-rules"
_SCOPES = ("system", "tenant", "cluster", "department", "project")


def router(state: State) -> APIRouter:
    """Endpoints of machine identities and of what they may do."""
    routes = guarded(state)

    @routes.get(_ACCOUNTS)
    def accounts() -> list[Json]:
        return list(state.accounts.values())

    @routes.post(_ACCOUNTS, status_code=201)
    def create(body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        name = str(body.get("name", ""))
        if not re.fullmatch(r"[a-z][-_a-z0-9]*[a-z0-9]", name):
            raise FailureError(400, f"Bad request - name {name}")
        if any(item["name"] == name for item in state.accounts.values()):
            raise FailureError(409, f"Service account {name} already exists")
        id_ = new_id()
        state.secrets[id_] = new_secret()
        state.accounts[id_] = {
            "id": id_,
            "name": name,
            "clientId": name,
            "enabled": True,
            "createdBy": "double",
            "lastLogin": None,
            **stamps(),
        }
        return {"id": id_, "name": name, "clientId": name, "clientSecret": state.secrets[id_]}

    @routes.get(_ACCOUNTS + "/{id_}")
    def account(id_: str) -> Json:
        return found(state.accounts, id_, "Service account")

    @routes.patch(_ACCOUNTS + "/{id_}")
    def enable(id_: str, body: dict[str, Any] = Body()) -> Response:  # noqa: B008
        found(state.accounts, id_, "Service account")["enabled"] = bool(body["enabled"])
        return Response(status_code=200)

    @routes.delete(_ACCOUNTS + "/{id_}", status_code=204)
    def remove(id_: str) -> Response:
        del state.accounts[found(state.accounts, id_, "Service account")["id"]]
        return Response(status_code=204)

    @routes.get("/api/v1/authorization/roles")
    def roles() -> list[Json]:
        return state.roles

    @routes.get(_RULES)
    def rules(offset: int = 0, limit: int = 50) -> Json:
        page = state.page(list(state.rules.values()), "accessRules", offset, limit, told=False)
        return {**page, "totalRecords": len(state.rules), "displayRecords": len(page["accessRules"])}

    @routes.post(_RULES, status_code=201)
    def create_rule(body: dict[str, Any] = Body()) -> Json:  # noqa: B008
        if body.get("scopeType") not in _SCOPES:
            raise FailureError(400, f"Bad request - scopeType {body.get('scopeType')}")
        role = next((item for item in state.roles if item["id"] == body.get("roleId")), None)
        if role is None:
            raise FailureError(404, f"Role {body.get('roleId')} not found")
        if body.get("subjectType") == "service-account":
            found(state.accounts, str(body.get("subjectId")), "Service account")
        number = next(iter(state.numbers))
        state.rules[number] = {
            **body,
            "id": number,
            "roleName": role["name"],
            "scopeName": str(body.get("scopeId")),
            "tenantId": TENANT,
            "createdBy": "double",
            **stamps(),
        }
        return state.rules[number]

    @routes.get(_RULES + "/{number}")
    def rule(number: int) -> Json:
        if number not in state.rules:
            raise FailureError(404, f"Access rule {number} not found")
        return state.rules[number]

    @routes.delete(_RULES + "/{number}", status_code=204)
    def remove_rule(number: int) -> Response:
        rule(number)
        del state.rules[number]
        return Response(status_code=204)

    return routes
