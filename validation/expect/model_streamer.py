"""I12: Run:ai's Model Streamer delivers the same tensors as a plain read; rates are told, not judged."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
# A file too small for parallel reads would say nothing.
SMALLEST_BYTES = 50_000_000


def expected() -> Json:
    """Expectations by check id."""
    same: Json = {
        "ended": "Succeeded",
        "tensors": {"atLeast": 1},
        "missing": 0,
        "bytes": {"atLeast": SMALLEST_BYTES},
        "different": [],
    }
    return {
        "model_streamer.volume": same,
        "model_streamer.s3": same,
        "model_streamer.refused": {"status": 403},
    }
