"""The registration of a cluster: `{name, domain, version}`; the state also holds `uuid`, `tenantId` and
`clientSecret`.

No step of it needs the user interface: look up by name or create, then ask what to install it with.
"""

from __future__ import annotations

from urllib.parse import urlencode

from components.runai.client import Client, Json
from components.runai.errors import ConflictError, MalformedError
from components.runai.objects.base import PATIENCE, present
from components.runai.waiting import until_gone

_PATH = "/api/v1/clusters"


class Registrations:
    """Clusters as the control plane knows them."""

    replaced_by = frozenset({"name", "domain"})

    def create(self, client: Client, wanted: Json) -> tuple[str, Json]:
        """Register it, or take over the registration of that name.

        Raises ConflictError when agents of another cluster are connected under that name.
        """
        found = next((item for item in client.get(_PATH) if item["name"] == wanted["name"]), None)
        if found is not None and found.get("domain") not in {None, "", wanted["domain"]}:
            raise ConflictError(
                f"cluster {wanted['name']}",
                f"one registered with the address {found['domain']}",
                f"none, or one with the address {wanted['domain']}",
                "choose another clusterAgents.name, or remove the registration",
            )
        if found is None:
            body = {"name": wanted["name"], "domain": wanted["domain"], "version": wanted["version"]}
            made: Json = client.post(_PATH, body)
        else:
            made = found
        uuid = str(made["uuid"])
        secret = _secret(client, uuid, wanted)
        told = {"uuid": uuid, "tenantId": made["tenantId"], "clientSecret": secret}
        return uuid, {**wanted, **told, "taken": found is not None}

    def read(self, client: Client, id_: str, state: Json) -> Json | None:
        """Name and address as registered."""
        found = present(client, f"{_PATH}/{id_}")
        if found is None or found.get("deleteRequestedAt"):
            return None
        return {**state, "name": found["name"], "domain": found.get("domain") or ""}

    def update(self, client: Client, id_: str, wanted: Json, state: Json) -> Json:
        """Another version: ask again what to install it with."""
        return {**state, **wanted, "clientSecret": _secret(client, id_, wanted)}

    def delete(self, client: Client, id_: str, state: Json) -> None:
        """Take the registration back, unless it was there before."""
        path = f"{_PATH}/{id_}"
        if state.get("taken") or present(client, path) is None:
            return
        client.delete(path)

        def look() -> Json | None:
            found = present(client, path)
            return None if found is None or found.get("deleteRequestedAt") else found

        until_gone(look, f"cluster {state['name']}", "remove it in the control plane", PATIENCE)


def _secret(client: Client, uuid: str, wanted: Json) -> str:
    query = {"version": wanted["version"], "remoteClusterUrl": wanted["domain"]}
    path = f"{_PATH}/{uuid}/cluster-install-info"
    told = client.get(path, list(query.items()))
    if not isinstance(told, dict) or not told.get("clientSecret"):
        raise MalformedError(
            f"GET {path}?{urlencode(query)}", "no clientSecret", "one", "compare the API's version"
        )
    return str(told["clientSecret"])
