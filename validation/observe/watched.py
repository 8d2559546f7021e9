"""What the watch of the whole run saw of a test's pods: also what was true for a moment only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from validation import timeline
from validation.timeline import Life

Json = dict[str, Any]


class Watched:
    """The sampler's file of a run, read again at each question."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def lives(self, test: str, *roles: str) -> list[Life]:
        """Pods of a test in order of creation, of these parts only when some are named."""
        found = timeline.lives(timeline.read(self._file), test)
        return [life for life in found if not roles or life.role in roles]

    def pods_only(self, test: str, role: str, pods: Iterable[Json]) -> list[Life]:
        """Lives of just these pods."""
        uids = {pod["metadata"]["uid"] for pod in pods}
        return [life for life in self.lives(test, role) if life.uid in uids]


def ever_scheduled(lives: Iterable[Life]) -> list[str]:
    """Names of pods that a node was found for, at any time."""
    return sorted(life.name for life in lives if life.scheduled is not None)


def ever_ran(lives: Iterable[Life]) -> list[str]:
    """Names of pods that ran, at any time."""
    return sorted(life.name for life in lives if life.running is not None)


def evicted(lives: Iterable[Life], since: float) -> list[Life]:
    """Pods that something began to delete at or after `since` (Unix s), in that order."""
    gone = [life for life in lives if life.deleting is not None and life.deleting >= since]
    return sorted(gone, key=lambda life: life.deleting or 0.0)
