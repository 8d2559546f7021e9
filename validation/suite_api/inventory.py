"""What VCF Operations knows of a cluster: the object, its adapter, its data, its pods.

The keys of the Supervisor's adapter and of VKS objects are documented nowhere: they are found by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.suite_api.client import SuiteApi

Json = dict[str, Any]
# Cluster → namespace → workload → pod.
_DEPTH = 4
# More objects than this are not looked through for one pod.
_ENOUGH = 500


def clusters(api: SuiteApi, name: str, kind: str = "") -> list[Json]:
    """Objects of exactly this name that are clusters by their kind, or of the given kind."""
    found = api.pages("/resources", "resourceList", [("name", name)])
    return [
        item
        for item in found
        if item["resourceKey"]["name"] == name
        and (kind_of(item) == kind if kind else "cluster" in kind_of(item).lower())
    ]


def kind_of(item: Json) -> str:
    """The resource kind's key."""
    return str(item["resourceKey"]["resourceKindKey"])


def state(item: Json) -> Json:
    """Status, state and message of the first adapter that tells them, the worst status first."""
    told = sorted(
        item.get("resourceStatusStates") or [], key=lambda s: s.get("resourceStatus") == "DATA_RECEIVING"
    )
    first = told[0] if told else {}
    return {
        "status": first.get("resourceStatus", "none"),
        "state": first.get("resourceState", "none"),
        "message": first.get("statusMessage") or "",
    }


def supervisors(api: SuiteApi) -> list[Json]:
    """Adapter instances of the Supervisor, by the kind's key or name."""
    kinds = api.get("/adapterkinds", [("retrieveResourceKindInfos", "false")]).get("adapter-kind") or []
    keys = {k["key"] for k in kinds if "supervisor" in f"{k['key']} {k.get('name', '')}".lower()}
    found: list[Json] = []
    for key in sorted(keys):
        instances = api.get("/adapters", [("adapterKindKey", key)])
        found += instances.get("adapterInstancesInfoDto") or []
    return found


def newest_sample(api: SuiteApi, resource: str) -> int:
    """Time of an object's newest sample in ms since 1970, 0 without any."""
    told = api.get(f"/resources/{resource}/stats/latest")
    times = [
        int(stamp)
        for value in told.get("values") or []
        for stat in (value.get("stat-list") or {}).get("stat") or []
        for stamp in stat.get("timestamps") or []
    ]
    return max(times, default=0)


def pods(api: SuiteApi, cluster: str) -> int:
    """Pods below a cluster's object that receive data; counted on the first level that has any."""
    level = [cluster]
    seen = 0
    for _ in range(_DEPTH):
        below = [item for parent in level for item in _children(api, parent)]
        found = [item for item in below if "pod" in kind_of(item).lower()]
        if found:
            return sum(1 for item in found if state(item)["status"] == "DATA_RECEIVING")
        seen += len(below)
        if not below or seen > _ENOUGH:
            break
        level = [str(item["identifier"]) for item in below]
    return 0


def _children(api: SuiteApi, parent: str) -> Iterator[Json]:
    return api.pages("/resources", "resourceList", [("parentId", parent)])
