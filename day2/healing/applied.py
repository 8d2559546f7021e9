"""Objects that a dead run had applied while the stack does not know that they are there.

Pulumi applies each resource under a field manager of its own. The next run takes the object for new and uses
another name, which the API server refuses where a default makes the two differ. Without the dead manager's
entry the fields belong to nobody, and the next run takes them; the object itself stays as it is. One entry
has to stay: for an object without any, the API server makes up a manager of everything that is there.

Of a patch to somebody else's object the fields themselves are taken back: the next run states them again, and
a destroy could not take what a dead manager holds as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from day2.healing.command import Json, say
from day2.kinds import Kinds
from validation.cluster import Cluster

MANAGER = "pulumi-kubernetes-"
# Of a manager that holds no field.
NOBODY = {
    "manager": "runai-kit",
    "operation": "Update",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:metadata": {}},
}
# The cluster's clock and that of the dead run may differ by this.
TOLERANCE = timedelta(minutes=1)


@dataclass(frozen=True)
class Started:
    """An object whose creation was begun, or to which a patch was."""

    api_version: str
    kind: str
    namespace: str
    name: str
    patch: bool = False

    @property
    def identity(self) -> Json:
        """As server-side apply wants it."""
        meta = {"name": self.name} | ({"namespace": self.namespace} if self.namespace else {})
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": meta}


def disown(cluster: Cluster, state: Json, since: datetime | None) -> None:
    """Take the entries of Pulumi's managers from objects that the state only knows as begun.

    `since` is when the dead run began: an entry that is older is another stack's.
    """
    kinds = Kinds(cluster)
    for item in started(state):
        kind = kinds.find(item.api_version, item.kind)
        path = kind.path(item.namespace, item.name) if kind else ""
        found = cluster.find(path) if path else None
        if not found:
            continue
        entries = found["metadata"].get("managedFields") or []
        kept = [entry for entry in entries if not _dead(entry, since)]
        if item.patch:
            for manager in {str(entry["manager"]) for entry in entries if entry not in kept}:
                say(f"{item.kind} {item.name}: what the run stated on it is taken back")
                cluster.withdraw(path, item.identity, manager)
            continue
        if entries and len(kept) == len(entries):
            continue
        say(f"{item.kind} {item.name}: there already, the next run may take it over")
        nobody = NOBODY | {"apiVersion": item.api_version}
        cluster.patch(path, {"metadata": {"managedFields": kept or [nobody]}})


def started(state: Json) -> Iterator[Started]:
    """Objects of pending creations."""
    for item in state.get("pending_operations") or []:
        inputs = item["resource"].get("inputs") or {}
        if item["type"] == "creating" and "kind" in inputs and "apiVersion" in inputs:
            meta = inputs.get("metadata") or {}
            yield Started(
                inputs["apiVersion"],
                inputs["kind"],
                meta.get("namespace", ""),
                meta.get("name", ""),
                item["resource"]["type"].endswith("Patch"),
            )


def _dead(entry: Json, since: datetime | None) -> bool:
    if entry.get("operation") != "Apply" or not str(entry.get("manager", "")).startswith(MANAGER):
        return False
    written = entry.get("time")
    return since is None or written is None or datetime.fromisoformat(written) >= since - TOLERANCE
