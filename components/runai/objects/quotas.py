"""Quotas per node pool: the kit's words and the API's.

The kit: `{nodePool: name, deserved, limit, overQuotaWeight}`, GPUs as numbers of devices, limit -1 for none.
The API: `{nodePool: {id, name}, gpu: {deserved, limit, overQuotaWeight}}`, limit null (or -1) for none.
CPU and memory are left to the vendor's defaults.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from components.runai.client import Client, Json
from components.runai.errors import NotFoundError
from components.runai.objects.base import only_name

UNLIMITED = -1


def pool_ids(client: Client, cluster: str, names: Collection[str]) -> dict[str, str]:
    """Id of each node pool. Raises NotFoundError for a name that the cluster does not know."""
    known: dict[str, str] = {}
    for name in sorted(set(names)):
        found = [
            item["id"]
            for item in client.pages("/api/v1/node-pools", "nodepools", only_name(name, cluster))
            if item["name"] == name and item["clusterId"] == cluster
        ]
        if not found:
            raise NotFoundError(
                f"node pool {name}",
                f"no such pool in cluster {cluster}",
                "a pool of that name",
                "define it in runai-kit:nodePools, or wait until the cluster is connected",
            )
        known[name] = found[0]
    return known


def to_api(quotas: list[Json], ids: Mapping[str, str]) -> list[Json]:
    """Resources of a department or project."""
    return [
        {
            "nodePool": {"id": ids[quota["nodePool"]], "name": quota["nodePool"]},
            "gpu": {
                "deserved": quota["deserved"],
                "limit": None if quota["limit"] == UNLIMITED else quota["limit"],
                "overQuotaWeight": quota["overQuotaWeight"],
            },
        }
        for quota in quotas
    ]


def from_api(resources: list[Json], known: Collection[str]) -> list[Json]:
    """Quotas by node pool's name; pools that nobody asked for only when they are given something."""
    found = []
    for item in resources:
        gpu, name = item.get("gpu") or {}, str((item.get("nodePool") or {}).get("name") or "")
        limit = gpu.get("limit")
        quota = {
            "nodePool": name,
            "deserved": gpu.get("deserved") or 0,
            "limit": UNLIMITED if limit is None else limit,
            "overQuotaWeight": 1 if gpu.get("overQuotaWeight") is None else gpu["overQuotaWeight"],
        }
        if name in known or quota["deserved"]:
            found.append(quota)
    return sorted(found, key=lambda quota: str(quota["nodePool"]))


def names(quotas: list[Json]) -> list[str]:
    """Node pools that the quotas are for, in their order."""
    return [str(quota["nodePool"]) for quota in quotas]
