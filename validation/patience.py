"""Look again and again until something is so, or the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


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
