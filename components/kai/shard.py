"""SchedulingShard: one scheduler per node pool, with placement and time-based fair share."""

from __future__ import annotations

from typing import Any

from components.config.sections import PlacementStrategy, TimeBasedFairShare
from components.kai.inputs import KaiInputs


def shard(kai: KaiInputs, pool: str, placement: PlacementStrategy) -> dict[str, Any]:
    """Spec of the shard for a node pool, "" for nodes without the pool label."""
    spec: dict[str, Any] = {
        "partitionLabelValue": pool,
        "placementStrategy": {"gpu": placement.gpu, "cpu": placement.cpu},
    }
    if kai.leader_election:
        spec["args"] = {"leader-elect": "true"}
    if kai.fair_share is not None and kai.fair_share.enabled:
        spec["kValue"] = kai.fair_share.k_value
        spec["usageDBConfig"] = _usage(kai, kai.fair_share)
    return spec


def _usage(kai: KaiInputs, share: TimeBasedFairShare) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "windowSize": share.window_size,
        "windowType": share.window_type,
        "fetchInterval": share.fetch_interval,
    }
    if share.half_life:
        usage["halfLifePeriod"] = share.half_life
    if kai.capacity_queries:
        usage["extraParams"] = dict(kai.capacity_queries)
    return {"clientType": "prometheus", "connectionString": kai.prometheus_url, "usageParams": usage}
