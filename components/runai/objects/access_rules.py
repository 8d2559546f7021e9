"""Access rules: `{subject, subjectType, role, scopeType, scopeId, clusterId}`; a rule never changes."""

from __future__ import annotations

from components.runai.client import Client, Json
from components.runai.errors import NotFoundError
from components.runai.objects.base import present

_PATH = "/api/v1/authorization/access-rules"
_ROLES = "/api/v1/authorization/roles"
_KEYS = ("subject", "subjectType", "role", "scopeType", "scopeId", "clusterId")


class AccessRules:
    """Who has which role where."""

    replaced_by = frozenset(_KEYS)

    def create(self, client: Client, wanted: Json) -> tuple[str, Json]:
        """Make the rule; the role is given by its name."""
        body = {
            "subjectId": wanted["subject"],
            "subjectType": wanted["subjectType"],
            "roleId": _role(client, wanted["role"]),
            "scopeId": wanted["scopeId"],
            "scopeType": wanted["scopeType"],
            "clusterId": wanted["clusterId"],
        }
        return str(client.post(_PATH, body)["id"]), dict(wanted)

    def read(self, client: Client, id_: str, state: Json) -> Json | None:
        """The rule as it is."""
        found = present(client, f"{_PATH}/{id_}")
        if found is None or found.get("deletedAt"):
            return None
        return {
            **state,
            "subject": found["subjectId"],
            "subjectType": found["subjectType"],
            "role": found["roleName"],
            "scopeType": found["scopeType"],
            "scopeId": found["scopeId"],
        }

    def update(self, client: Client, id_: str, wanted: Json, state: Json) -> Json:
        """Never asked for: every key makes a new rule."""
        raise AssertionError(f"access rule {id_} cannot be changed")

    def delete(self, client: Client, id_: str, state: Json) -> None:
        """Take the role away."""
        if present(client, f"{_PATH}/{id_}") is not None:
            client.delete(f"{_PATH}/{id_}")


def _role(client: Client, name: str) -> int:
    roles = {str(item["name"]): int(item["id"]) for item in client.get(_ROLES)}
    if name not in roles:
        raise NotFoundError(
            f"role {name}",
            "no such role",
            f"one of {', '.join(sorted(roles)) or 'none'}",
            "correct the role in runai-kit:serviceAccounts",
        )
    return roles[name]
