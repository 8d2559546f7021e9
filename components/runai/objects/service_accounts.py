"""Service accounts: `{name, enabled}`; the state also holds `clientId` and `clientSecret`.

The secret is told once, when the account is made: an account that exists already is refused, not taken over.
"""

from __future__ import annotations

from components.runai.client import Client, Json
from components.runai.errors import ConflictError
from components.runai.objects.base import present

_PATH = "/api/v1/service-accounts"


class ServiceAccounts:
    """Accounts of machines."""

    replaced_by = frozenset({"name"})

    def create(self, client: Client, wanted: Json) -> tuple[str, Json]:
        """Make it. Raises ConflictError for a name in use: its secret belongs to somebody."""
        name = wanted["name"]
        if any(item["name"] == name for item in client.get(_PATH)):
            raise ConflictError(
                f"service account {name}",
                "one of that name",
                "none",
                "choose another name, or remove the account if nobody uses it",
            )
        made = client.post(_PATH, {"name": name})
        id_ = str(made["id"])
        if not wanted["enabled"]:
            client.patch(f"{_PATH}/{id_}", {"enabled": False})
        secret = {"clientId": made.get("clientId") or name, "clientSecret": made["clientSecret"]}
        return id_, {**wanted, **secret}

    def read(self, client: Client, id_: str, state: Json) -> Json | None:
        """Name and whether it may be used."""
        found = present(client, f"{_PATH}/{id_}")
        if found is None:
            return None
        return {**state, "name": found["name"], "enabled": found["enabled"]}

    def update(self, client: Client, id_: str, wanted: Json, state: Json) -> Json:
        """Let it be used, or not."""
        client.patch(f"{_PATH}/{id_}", {"enabled": wanted["enabled"]})
        return {**state, **wanted}

    def delete(self, client: Client, id_: str, state: Json) -> None:
        """Remove it; its secret is worth nothing then."""
        if present(client, f"{_PATH}/{id_}") is not None:
            client.delete(f"{_PATH}/{id_}")
