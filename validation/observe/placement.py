"""V9 placement: the live shard's strategy, and what two pods share."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe import nodes, pods
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
TEST, ROLE = "placement", "pod"


def observe(at: Snapshot, over: str) -> Json:
    """Observations by check id; `over` is node or gpu."""
    mine = [pod for pod in nodes.of_role(at, TEST, ROLE) if pods.running(pod)]
    if over == "node":
        places = [pods.node(pod) for pod in mine]
    else:
        # A pod without a group is on a GPU of its own, so that no two labels missing are "one GPU".
        places = [pods.label(pod, names.GPU_GROUP_LABEL) or f"no group: {pods.name(pod)}" for pod in mine]
    return {
        "placement.setting": {"gpu": _strategy(at)},
        "placement.pods": {
            "running": len(mine),
            "distinct": len(set(places)),
            "over": over,
            "places": {pods.name(pod): place for pod, place in zip(mine, places, strict=True)},
        },
    }


def _strategy(at: Snapshot) -> str | None:
    """Of the shard that serves the suite's pool; KAI's own default where it says nothing."""
    for shard in at.cluster.items(names.SHARDS):
        spec = shard.get("spec", {})
        if (spec.get("partitionLabelValue") or "") == at.outputs.validation.nodePool:
            return str((spec.get("placementStrategy") or {}).get("gpu") or "binpack")
    return None
