"""Look again and again until something is so, or the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypeVar

T = TypeVar("T")
End = Literal["reached", "hopeless", "late"]


def until(
    look: Callable[[], T], good: Callable[[T], bool], timeout: float, interval: float = 1.0
) -> tuple[T, float]:
    """(what was seen last, seconds); the caller judges whether it is good."""
    begun = time.monotonic()
    while True:
        seen = look()
        passed = time.monotonic() - begun
        if good(seen) or passed >= timeout:
            return seen, round(passed, 3)
        time.sleep(interval)


def while_hopeful(
    look: Callable[[], T],
    good: Callable[[T], bool],
    bad: Callable[[T], bool],
    tell: Callable[[T, float], None],
    timeout: float,
    interval: float,
    hopeless_after: float,
) -> tuple[T, float, End]:
    """(what was seen last, seconds, how it ended); `bad` for `hopeless_after` seconds on end gives up early.

    `tell` is given each look and its second, so that progress can be said.
    """
    begun = time.monotonic()
    bad_since: float | None = None
    while True:
        seen = look()
        passed = time.monotonic() - begun
        tell(seen, passed)
        if good(seen):
            return seen, passed, "reached"
        if not bad(seen):
            bad_since = None
        elif bad_since is None:
            bad_since = passed
        if bad_since is not None and passed - bad_since >= hopeless_after:
            return seen, passed, "hopeless"
        if passed >= timeout:
            return seen, passed, "late"
        time.sleep(interval)
