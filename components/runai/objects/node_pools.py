"""Node pools: `{clusterId, name, labelKey, labelValue, gpuPlacement, cpuPlacement}`.

The pool `default` belongs to the cluster and is never made here.
"""

from __future__ import annotations

from components.runai.client import Client, Json
from components.runai.objects.base import PATIENCE, only_name, present
from components.runai.waiting import until_gone, until_phase

_PATH = "/api/v1/node-pools"
# Empty: no node has the label yet. Unschedulable: nodes that nothing can be put on now.
_SETTLED = {"Ready", "Empty", "Unschedulable"}
_ADVICE = "see the pool's phase message and the node pool controller's log in namespace runai"


class NodePools:
    """Named groups of nodes of a cluster."""

    replaced_by = frozenset({"clusterId", "name"})

    def create(self, client: Client, wanted: Json) -> tuple[str, Json]:
        """Make it, or take over the one of that name; then wait until its phase is settled."""
        name, cluster = wanted["name"], wanted["clusterId"]
        listed = client.pages(_PATH, "nodepools", only_name(name, cluster))
        found = next((i for i in listed if (i["name"], i["clusterId"]) == (name, cluster)), None)
        before: Json = {}
        if found is None:
            made = client.post(_PATH, {"name": name, "clusterId": cluster, **_body(wanted)})
            id_ = str(made["id"])
        else:
            # Pools have no description to tell ours by.
            id_, before = str(found["id"]), _seen(found)
            client.put(f"{_PATH}/{id_}", _body(wanted))
        settled(client, id_, name)
        return id_, {**wanted, "before": before}

    def read(self, client: Client, id_: str, state: Json) -> Json | None:
        """Label and placement as they are."""
        found = present(client, f"{_PATH}/{id_}")
        if found is None or found.get("phase") == "Deleted":
            return None
        return {**state, "clusterId": found["clusterId"], "name": found["name"], **_seen(found)}

    def update(self, client: Client, id_: str, wanted: Json, state: Json) -> Json:
        """State label and placement."""
        client.put(f"{_PATH}/{id_}", _body(wanted))
        settled(client, id_, wanted["name"])
        return {**wanted, "before": state.get("before") or {}}

    def delete(self, client: Client, id_: str, state: Json) -> None:
        """Remove it, or put back what was there before."""
        path = f"{_PATH}/{id_}"
        if present(client, path) is None:
            return
        if before := state.get("before"):
            client.put(path, _body(before))
            return
        client.delete(path)

        def look() -> Json | None:
            found = present(client, path)
            return None if found is None or found.get("phase") == "Deleted" else found

        until_gone(look, f"node pool {state['name']}", _ADVICE, PATIENCE)


def _body(wanted: Json) -> Json:
    placement = {"gpu": wanted["gpuPlacement"], "cpu": wanted["cpuPlacement"]}
    return {
        "labelKey": wanted["labelKey"],
        "labelValue": wanted["labelValue"],
        "schedulingConfiguration": {"placementStrategy": placement},
    }


def _seen(found: Json) -> Json:
    nested = (found.get("schedulingConfiguration") or {}).get("placementStrategy")
    # The older place of the same setting.
    placement = nested or found.get("placementStrategy") or {}
    return {
        "labelKey": found["labelKey"],
        "labelValue": found["labelValue"],
        "gpuPlacement": placement.get("gpu", ""),
        "cpuPlacement": placement.get("cpu", ""),
    }


def settled(client: Client, id_: str, name: str) -> None:
    """Return once the pool's phase is one that stays. Raises NotReadyError."""
    until_phase(
        lambda: client.get(f"{_PATH}/{id_}"),
        lambda found: (str(found.get("phase") or ""), str(found.get("phaseMessage") or "")),
        _SETTLED,
        f"node pool {name}",
        _ADVICE,
        PATIENCE,
    )
