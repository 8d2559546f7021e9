"""Makes what is missing of a backup, in an order in which it can be made; changes and deletes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from components.runai.client import Client, Json
from components.runai.errors import ApiError, ConflictError, ForbiddenError, NotFoundError, RefusedError
from components.runai.objects.node_pools import settled
from components.runai.objects.projects import ready
from day2.backup import fields
from day2.backup.document import Key
from day2.backup.live import ACCOUNTS, DEPARTMENTS, POOLS, PROJECTS, RULES, Live

# About this one object: the next may still be made.
_OF_ONE = (RefusedError, ConflictError, ForbiddenError, NotFoundError)


@dataclass
class Restore:
    """`live` grows by what is made; `stacks` are service accounts that the stack itself makes.

    `made` and `left` are lines for people.
    """

    client: Client
    live: Live
    stacks: Collection[str] = ()
    made: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def make(self, missing: Collection[Key], saved: dict[Key, Json]) -> None:
        """All that is missing, until a request fails for another reason than its object; then wait."""
        how: dict[str, Callable[[Key, Json], str]] = {
            "node pool": self._pool,
            "department": self._department,
            "project": self._project,
            "service account": self._account,
            "access rule": self._rule,
        }
        for key in missing:
            if key.kind == "service account" and key.name in self.stacks:
                self.left.append(
                    f"{key}: the stack's own, with a secret of its own; `pulumi up --refresh` makes it"
                )
                continue
            try:
                self.live.ids[key] = how[key.kind](key, saved[key])
            except ApiError as error:
                self.left.append(f"{key}: {error}")
                if not isinstance(error, _OF_ONE):
                    break
            else:
                self.made.append(str(key) + self._more(key))
        for key in missing:
            if key in self.live.ids:
                self._wait(key)

    def _pool(self, key: Key, saved: Json) -> str:
        return self._new(POOLS, {"name": key.name, "clusterId": self.live.clusters[key.cluster], **saved})

    def _department(self, key: Key, saved: Json) -> str:
        return self._new(DEPARTMENTS, self._unit(key, saved))

    def _project(self, key: Key, saved: Json) -> str:
        parent = self._id("department", key.cluster, saved["department"])
        return self._new(PROJECTS, {**self._unit(key, saved), "parentId": parent})

    def _account(self, key: Key, saved: Json) -> str:
        """The secret that comes with it is dropped: whoever needs it asks for a new one."""
        id_ = self._new(ACCOUNTS, {"name": key.name})
        if not saved["enabled"]:
            self.client.patch(f"{ACCOUNTS}/{id_}", {"enabled": False})
        return id_

    def _rule(self, _key: Key, saved: Json) -> str:
        subject, scope, cluster = saved["subject"], saved["scopeType"], saved["cluster"]
        if saved["subjectType"] == "service-account":
            subject = self._id("service account", "", subject)
        body: Json = {"subjectId": subject, "subjectType": saved["subjectType"], "scopeType": scope}
        body["roleId"] = self._role(saved["role"])
        if cluster:
            body["clusterId"] = self.live.clusters[cluster]
        if scope in {"department", "project"}:
            body["scopeId"] = self._id(scope, cluster, saved["scope"])
        else:
            body["scopeId"] = self.live.clusters[cluster] if scope == "cluster" else self.live.tenant
        return self._new(RULES, body)

    def _unit(self, key: Key, saved: Json) -> Json:
        pools = self.live.pools(key.cluster)
        for name in saved["quotas"]:
            self._id("node pool", key.cluster, name)
        return {
            "name": key.name,
            "clusterId": self.live.clusters[key.cluster],
            **fields.request(saved, pools),
        }

    def _new(self, path: str, body: Json) -> str:
        return str(self.client.post(path, body)["id"])

    def _role(self, name: str) -> int:
        roles = {
            str(item["name"]): int(item["id"]) for item in self.client.get("/api/v1/authorization/roles")
        }
        if name not in roles:
            raise NotFoundError(
                f"role {name}", "no such role", "the one of the backup", "make it, then restore again"
            )
        return roles[name]

    def _id(self, kind: str, cluster: str, name: str) -> str:
        """The id of what an object hangs on."""
        key = Key.model_validate({"kind": kind, "cluster": cluster, "name": name})
        if key not in self.live.ids:
            raise NotFoundError(str(key), "none", "one", "see why it was not made, then restore again")
        return self.live.ids[key]

    def _more(self, key: Key) -> str:
        return (
            ": with a new secret that nobody was told; its owner asks for one"
            if key.kind == "service account"
            else ""
        )

    def _wait(self, key: Key) -> None:
        try:
            if key.kind == "node pool":
                settled(self.client, self.live.ids[key], key.name)
            elif key.kind == "project":
                ready(self.client, self.live.ids[key], key.name)
        except ApiError as error:
            self.left.append(f"{key}: was made, and is not ready: {error}")
