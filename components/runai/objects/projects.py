"""Projects: `{clusterId, name, departmentId, namespace, quotas}`.

The namespace is the stack's own, made and labelled before: the vendor's controller would make it without
Pod Security labels, and where `restricted` is the default nothing would start in it.
A project's ordered node pools are those of its quotas: without any, workloads would be pending for ever.
"""

from __future__ import annotations

from components.runai.client import Client, Json
from components.runai.objects import quotas as q
from components.runai.objects.base import OURS, PATIENCE, only_name, present
from components.runai.waiting import until_gone, until_phase

_PATH = "/api/v1/org-unit/projects"
_ADVICE = "see the project's phase message and the project controller's log in namespace runai"


class Projects:
    """Projects of a department, ready when the cluster's agents have taken them over."""

    replaced_by = frozenset({"clusterId", "name", "departmentId", "namespace"})

    def create(self, client: Client, wanted: Json) -> tuple[str, Json]:
        """Make it, or take over the one of that name; then wait for its phase Ready."""
        found = _by_name(client, wanted)
        body = {"description": OURS, **_body(client, wanted)}
        before: Json = {}
        if found is None:
            made = client.post(
                _PATH,
                {
                    **body,
                    "name": wanted["name"],
                    "clusterId": wanted["clusterId"],
                    "parentId": wanted["departmentId"],
                    "requestedNamespace": wanted["namespace"],
                    "enforceRunaiScheduler": True,
                },
            )
            id_ = str(made["id"])
        else:
            id_ = str(found["id"])
            if found.get("description") != OURS:
                before = _content(found)
                body["description"] = before["description"]
            client.put(f"{_PATH}/{id_}", body)
        ready(client, id_, wanted["name"])
        return id_, {**wanted, "before": before}

    def read(self, client: Client, id_: str, state: Json) -> Json | None:
        """Department, namespace and quotas as they are."""
        found = present(client, f"{_PATH}/{id_}")
        if found is None or _phase(found)[0] == "Deleted":
            return None
        return {
            **state,
            "clusterId": found["clusterId"],
            "name": found["name"],
            "departmentId": found["parentId"],
            "namespace": found["status"].get("namespace") or found.get("requestedNamespace") or "",
            "quotas": q.from_api(found["resources"], q.names(state.get("quotas") or [])),
        }

    def update(self, client: Client, id_: str, wanted: Json, state: Json) -> Json:
        """State the quotas, and wait for the agents."""
        before: Json = state.get("before") or {}
        description = before.get("description", OURS)
        client.put(f"{_PATH}/{id_}", {"description": description, **_body(client, wanted)})
        ready(client, id_, wanted["name"])
        return {**wanted, "before": before}

    def delete(self, client: Client, id_: str, state: Json) -> None:
        """Remove it and wait until it is gone, or put back what was there before."""
        path = f"{_PATH}/{id_}"
        if present(client, path) is None:
            return
        if before := state.get("before"):
            client.put(path, before)
            return
        client.delete(path)

        def look() -> Json | None:
            found = present(client, path)
            return None if found is None or _phase(found)[0] == "Deleted" else found

        until_gone(look, f"project {state['name']}", _ADVICE, PATIENCE)


def _by_name(client: Client, wanted: Json) -> Json | None:
    listed = client.pages(_PATH, "projects", only_name(wanted["name"], wanted["clusterId"]))
    ours = (wanted["name"], wanted["clusterId"])
    return next((item for item in listed if (item["name"], item["clusterId"]) == ours), None)


def _body(client: Client, wanted: Json) -> Json:
    pools = q.names(wanted["quotas"])
    ids = q.pool_ids(client, wanted["clusterId"], pools)
    return {"resources": q.to_api(wanted["quotas"], ids), "defaultNodePools": pools}


def _content(found: Json) -> Json:
    return {
        "description": found.get("description") or "",
        "resources": found["resources"],
        "defaultNodePools": found.get("defaultNodePools") or [],
    }


def _phase(found: Json) -> tuple[str, str]:
    status = found.get("status") or {}
    return str(status.get("phase") or ""), str(status.get("phaseMessage") or "")


def ready(client: Client, id_: str, name: str) -> None:
    """Return once the agents have taken the project over. Raises NotReadyError."""
    until_phase(lambda: client.get(f"{_PATH}/{id_}"), _phase, {"Ready"}, f"project {name}", _ADVICE, PATIENCE)
