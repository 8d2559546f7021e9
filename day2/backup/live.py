"""What a control plane has now, by the same keys as in a backup, each with its id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from components.runai.client import Client, Json
from day2.backup import fields
from day2.backup.document import Key, Kind

CLUSTERS = "/api/v1/clusters"
POOLS = "/api/v1/node-pools"
DEPARTMENTS = "/api/v1/org-unit/departments"
PROJECTS = "/api/v1/org-unit/projects"
ACCOUNTS = "/api/v1/service-accounts"
RULES = "/api/v1/authorization/access-rules"
# What hangs on a cluster: the kind, its list, the key below which that comes, and the fields that are kept.
_UNITS: tuple[tuple[Kind, str, str, Callable[[Json], Json]], ...] = (
    ("node pool", POOLS, "nodepools", fields.node_pool),
    ("department", DEPARTMENTS, "departments", fields.department),
    ("project", PROJECTS, "projects", fields.project),
)


@dataclass
class Live:
    """Fields and ids of every object; `clusters` are uuids by name, `tenant` is the scope of all of them."""

    clusters: dict[str, str]
    tenant: str = ""
    tree: dict[Key, Json] = field(default_factory=dict)
    ids: dict[Key, str] = field(default_factory=dict)

    def pools(self, cluster: str) -> dict[str, str]:
        """Ids of a cluster's node pools by name."""
        found = ("node pool", cluster)
        return {key.name: id_ for key, id_ in self.ids.items() if (key.kind, key.cluster) == found}

    def add(self, key: Key, kept: Json, id_: str) -> None:
        """One object more."""
        self.tree[key], self.ids[key] = kept, id_


def look(client: Client, only: str = "") -> Live:
    """Everything, or what belongs to the cluster with the uuid `only`. Raises ApiError's kinds."""
    listed = [item for item in client.get(CLUSTERS) if only in {"", item["uuid"]}]
    tenant = str(listed[0]["tenantId"]) if listed else ""
    live = Live({str(item["name"]): str(item["uuid"]) for item in listed}, tenant)
    for cluster, uuid in live.clusters.items():
        _units(client, live, cluster, uuid)
    _people(client, live, inside=bool(only))
    return live


def _units(client: Client, live: Live, cluster: str, uuid: str) -> None:
    for kind, path, below, kept in _UNITS:
        for item in client.pages(path, below, [("filterBy", f"clusterId=={uuid}")]):
            if item["clusterId"] == uuid and _phase(item) not in {"Deleting", "Deleted"}:
                live.add(Key(kind=kind, cluster=cluster, name=item["name"]), kept(item), str(item["id"]))


def _phase(item: Json) -> str:
    """Node pools tell it themselves, projects in their status, departments have none."""
    return str(item.get("phase") or (item.get("status") or {}).get("phase") or "")


def _people(client: Client, live: Live, *, inside: bool) -> None:
    """Accounts and rules; `inside` a cluster only rules on what is there, and who has one."""
    accounts = {str(item["id"]): item for item in client.get(ACCOUNTS)}
    rules = list(_rules(client, live, {id_: str(item["name"]) for id_, item in accounts.items()}, inside))
    busy = {rule["subject"] for rule in rules if rule["subjectType"] == "service-account"}
    for id_, item in accounts.items():
        if not inside or item["name"] in busy:
            key = Key(kind="service account", cluster="", name=item["name"])
            live.add(key, {"enabled": item["enabled"]}, id_)
    # Nothing hangs on a rule: its id is nobody's matter.
    live.tree |= {_rule_key(rule): rule for rule in rules}


def _rules(client: Client, live: Live, accounts: dict[str, str], inside: bool) -> Iterator[Json]:
    """Rules by names, without those of clusters that are not looked at; `inside`: nor of the whole tenant."""
    names = {id_: key for key, id_ in live.ids.items()}
    clusters = {uuid: name for name, uuid in live.clusters.items()}
    for item in client.pages(RULES, "accessRules"):
        scope, id_ = str(item["scopeType"]), str(item["scopeId"])
        place = {"cluster": "", "scope": ""}
        if scope == "cluster" and id_ in clusters:
            place = {"cluster": clusters[id_], "scope": ""}
        elif scope in {"department", "project"} and id_ in names:
            place = {"cluster": names[id_].cluster, "scope": names[id_].name}
        elif scope in {"cluster", "department", "project"} or inside:
            continue
        subject = str(item["subjectId"])
        if item["subjectType"] == "service-account":
            subject = accounts.get(subject, subject)
        yield {
            "subject": subject,
            "subjectType": item["subjectType"],
            "role": item["roleName"],
            "scopeType": scope,
            **place,
        }


def _rule_key(rule: Json) -> Key:
    place = f" {rule['scope']}" if rule["scope"] else ""
    name = f"{rule['subjectType']} {rule['subject']} is {rule['role']} of {rule['scopeType']}{place}"
    return Key(kind="access rule", cluster=rule["cluster"], name=name)
