"""V2: two pods of half a GPU."""

from __future__ import annotations

from typing import Any

from validation.expect.witness import WITNESS

PODS = 2
PORTION = "0.50"


def expected() -> dict[str, Any]:
    """Expectations by check id; GPUs held are counted against the moment before the test."""
    return {
        "fractional_gpu.running": {"running": PODS, "nodes": 1},
        "fractional_gpu.group": {"groups": 1, "reservationPods": 1, "reservationOnSameNode": True},
        # Pods, logs, config maps, the reservation's annotation and the kubelet: one and the same UUID.
        "fractional_gpu.uuid": {
            "distinct": 1,
            "nvidiaSmi": PODS,
            "logs": PODS,
            "configMaps": PODS,
            "annotation": 1,
            "kubelet": 1,
            "kubeletBy": WITNESS,
        },
        "fractional_gpu.portion": {
            "portions": [PORTION] * PODS,
            "queueAllocated": 1,
            "podGroups": [0.5] * PODS,
        },
        "fractional_gpu.shares": {"overCommitted": {}},
        "fractional_gpu.others_free": {"newlyHeld": 1, "holders": "reservation pods only"},
    }
