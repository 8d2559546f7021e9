"""Departments: `{clusterId, name, quotas}`.

Each cluster comes with a department `default`, which is taken over and later put back, never removed.
"""

from __future__ import annotations

from components.runai.client import Client, Json
from components.runai.objects import quotas as q
from components.runai.objects.base import OURS, only_name, present

_PATH = "/api/v1/org-unit/departments"


class Departments:
    """Departments of a cluster. The vendor refuses to remove one that still has projects."""

    replaced_by = frozenset({"clusterId", "name"})

    def create(self, client: Client, wanted: Json) -> tuple[str, Json]:
        """Make it, or take over the one of that name."""
        found = _by_name(client, wanted)
        body = {"description": OURS, "resources": _resources(client, wanted)}
        if found is None:
            made: Json = client.post(
                _PATH, {**body, "name": wanted["name"], "clusterId": wanted["clusterId"]}
            )
            return str(made["id"]), {**wanted, "before": {}}
        before = {} if found.get("description") == OURS else _content(found)
        if before:
            body["description"] = before["description"]
        client.put(f"{_PATH}/{found['id']}", body)
        return str(found["id"]), {**wanted, "before": before}

    def read(self, client: Client, id_: str, state: Json) -> Json | None:
        """Name and quotas as they are."""
        found = present(client, f"{_PATH}/{id_}")
        if found is None:
            return None
        quotas = q.from_api(found["resources"], q.names(state.get("quotas") or []))
        return {**state, "clusterId": found["clusterId"], "name": found["name"], "quotas": quotas}

    def update(self, client: Client, id_: str, wanted: Json, state: Json) -> Json:
        """State the quotas."""
        before: Json = state.get("before") or {}
        description = before.get("description", OURS)
        client.put(f"{_PATH}/{id_}", {"description": description, "resources": _resources(client, wanted)})
        return {**wanted, "before": before}

    def delete(self, client: Client, id_: str, state: Json) -> None:
        """Remove it, or put back what was there before."""
        if present(client, f"{_PATH}/{id_}") is None:
            return
        if before := state.get("before"):
            client.put(f"{_PATH}/{id_}", before)
        else:
            client.delete(f"{_PATH}/{id_}")


def _by_name(client: Client, wanted: Json) -> Json | None:
    listed = client.pages(_PATH, "departments", only_name(wanted["name"], wanted["clusterId"]))
    ours = (wanted["name"], wanted["clusterId"])
    return next((item for item in listed if (item["name"], item["clusterId"]) == ours), None)


def _resources(client: Client, wanted: Json) -> list[Json]:
    ids = q.pool_ids(client, wanted["clusterId"], q.names(wanted["quotas"]))
    return q.to_api(wanted["quotas"], ids)


def _content(found: Json) -> Json:
    return {"description": found.get("description") or "", "resources": found["resources"]}
