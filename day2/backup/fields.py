"""Which fields of an object are its own: those that a request to make it takes, by the vendor's document.

Not kept: ids of node types and network topologies, which a name cannot replace, and what the control plane
computes.
"""

from __future__ import annotations

from collections.abc import Mapping

from components.runai.client import Json

_POOL = (
    "labelKey",
    "labelValue",
    "overProvisioningRatio",
    "schedulingConfiguration",
    "gpuResourceOptimization",
    "gpuNetworkAccelerationLabelKey",
    "gpuNetworkAccelerationDetection",
)
_UNIT = ("description", "schedulingRules", "defaultNodePools")
_PROJECT = (*_UNIT, "requestedNamespace", "enforceRunaiScheduler")


def node_pool(found: Json) -> Json:
    """Of a node pool."""
    return _kept(found, _POOL)


def department(found: Json) -> Json:
    """Of a department."""
    return _kept(found, _UNIT) | _quotas(found)


def project(found: Json) -> Json:
    """Of a project; its namespace is the one that it has, also where nobody asked for one."""
    namespace = (found.get("status") or {}).get("namespace") or found.get("requestedNamespace")
    parent = (found.get("parent") or {}).get("name")
    return (
        _kept({**found, "requestedNamespace": namespace}, _PROJECT) | {"department": parent} | _quotas(found)
    )


def request(fields: Json, pools: Mapping[str, str]) -> Json:
    """The fields as a request takes them; `pools` are ids of node pools by name, of all that are named."""
    body = {key: value for key, value in fields.items() if key not in {"quotas", "department"}}
    if "quotas" in fields:
        body["resources"] = [
            {"nodePool": {"id": pools[name], "name": name}, **quota}
            for name, quota in fields["quotas"].items()
        ]
    return body


def _kept(found: Json, keys: tuple[str, ...]) -> Json:
    return {key: found[key] for key in keys if found.get(key) is not None}


def _quotas(found: Json) -> Json:
    """Quotas by node pool, each with GPU, CPU, memory and priority as far as they are told."""
    told = {str(item["nodePool"]["name"]): item for item in found.get("resources") or []}
    rest = {
        name: {key: value for key, value in item.items() if key != "nodePool" and value is not None}
        for name, item in sorted(told.items())
    }
    return {"quotas": rest}
