"""What the playbooks of one acceptance test saw failing, so that a test's marks can be held against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]
_failed: set[str] = set()


def begin() -> None:
    """A test begins: nothing was seen yet."""
    _failed.clear()


def note(checks: Mapping[str, Json]) -> None:
    """Remember the failed checks of a report, given by check id."""
    _failed.update(name for name, check in checks.items() if check["verdict"] == "fail")


def unkept(promised: Iterable[str]) -> set[str]:
    """Checks that a test is marked to make fail, and that did not."""
    return set(promised) - _failed
