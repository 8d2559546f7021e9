"""V9 MIG and DRA: parts of a GPU that the cluster itself offers; both are n/a where it offers none."""

from __future__ import annotations

from typing import Any


def expected() -> dict[str, Any]:
    """Expectations by check id: a pod that asks for such a device runs and sees one."""
    return {
        "partitions.mig": {"phase": "Running", "devices": 1, "uuid": {"matches": "^MIG-"}},
        "partitions.dra": {"phase": "Running", "claim": "allocated and reserved"},
    }
