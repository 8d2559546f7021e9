"""Pods that the scheduler evicted, from its own events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validation import names
from validation.cluster import Cluster

Json = dict[str, Any]


class Watch:
    """Evictions of a whole run, asked for again and again: the API server forgets events after an hour."""

    def __init__(self) -> None:
        self._known: dict[str, int] | None = None

    def news(self, cluster: Cluster) -> list[Json]:
        """Those since the last call; the first call only takes note of what there is."""
        events = _events(cluster)
        known, self._known = self._known, {e["metadata"]["uid"]: _times(e) for e in events}
        return [] if known is None else _told(events, known)

    @property
    def begun(self) -> bool:
        """Did the first call get an answer?"""
        return self._known is not None


def seen(cluster: Cluster) -> dict[str, int]:
    """Eviction events there are now: uid -> times. Counted, not timed: clocks here and there may differ."""
    return {e["metadata"]["uid"]: _times(e) for e in _events(cluster)}


def since(cluster: Cluster, before: Mapping[str, int]) -> list[Json]:
    """KAI's Evict events on PodGroups that are new or were repeated since seen(), oldest first."""
    return _told(_events(cluster), before)


def _told(events: list[Json], before: Mapping[str, int]) -> list[Json]:
    found = []
    for event in events:
        if before.get(event["metadata"]["uid"]) == _times(event):
            continue
        target = event["involvedObject"]
        found.append(
            {
                "at": event.get("lastTimestamp") or event.get("eventTime") or "",
                "group": f"{target.get('namespace')}/{target.get('name')}",
                "message": event.get("message", ""),
            }
        )
    return sorted(found, key=lambda e: str(e["at"]))


def foreign(evicted: list[Json]) -> list[str]:
    """Evicted groups that are not the suite's: KAI names a Job's PodGroup pg-<pod>-<uid>."""
    own = f"pg-{names.WORKLOAD_PREFIX}"
    return sorted({e["group"] for e in evicted if not e["group"].partition("/")[2].startswith(own)})


def _events(cluster: Cluster) -> list[Json]:
    return cluster.items(names.EVENTS, fieldSelector="reason=Evict")


def _times(event: Json) -> int:
    series = event.get("series") or {}
    return int(event.get("count") or series.get("count") or 1)
