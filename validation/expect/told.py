"""V13: what the control plane has to tell of workloads, in the columns of the CLI's lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from validation.quantity import tidy
from validation.runai.kinds import KINDS

Json = dict[str, Any]
RUNNING = "Running"


def expected(items: Sequence[Json]) -> Json:
    """One check's expectation; an item may say another `status` than Running, and its `url`."""
    return {"workloads": {item["name"]: _row(item) for item in items}}


def _row(item: Json) -> Json:
    status = item.get("status", RUNNING)
    running = 1 if status == RUNNING else 0
    gpus = float(item.get("gpuFraction") or item.get("gpus") or 0)
    of = (
        f"{item.get('minReplicas', 1)}-{item.get('maxReplicas', 1)}"
        if item.get("kind") == "inference"
        else "1"
    )
    found = {
        "type": KINDS[item.get("kind", "training")].type,
        "status": status,
        "pods": f"{running}/{of}",
        "gpus": tidy(running * gpus),
    }
    return {**found, "url": item["url"]} if item.get("url") else found
