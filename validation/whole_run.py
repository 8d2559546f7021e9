"""What only the whole run can tell: that nobody outside the suite lost a pod to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from validation.observe import evictions
from validation.records import Records
from validation.timeline import FILE, read

Json = dict[str, Any]
CHECK = "preflight.evictions"


def expected() -> Json:
    """Nothing of others was evicted, and somebody watched evictions, and the suite's pods, until the end."""
    return {CHECK: {"evicted": [], "watched": True, "podsWatched": True}}


def observed(records: Records) -> Json:
    """From the sampler's file; no file and a half one are no watch."""
    try:
        lines = read(records.root / FILE)
    except (FileNotFoundError, ValueError):
        lines = []
    return {CHECK: _evictions(lines)}


def _evictions(lines: Iterable[Json]) -> Json:
    events = [line for line in lines if line["kind"] == "eviction"]
    ends = [line for line in lines if line["kind"] == "end"]
    foreign = evictions.foreign(events)
    return {
        "evicted": foreign,
        "evictionsOfTheSuite": len([e for e in events if e["group"] not in foreign]),
        "watched": bool(ends) and bool(ends[-1]["evictionsWatched"]),
        "podsWatched": bool(ends) and bool(ends[-1].get("podsWatched")),
    }
