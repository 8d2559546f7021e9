"""Waits for an object to reach a phase, and says at the end which one it was stuck in."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from components.runai.errors import NotFoundError, NotReadyError


@dataclass(frozen=True)
class Clock:
    """Time, as tests may move it."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def until_phase(
    look: Callable[[], Any],
    phase: Callable[[Any], tuple[str, str]],
    good: Collection[str],
    subject: str,
    advice: str,
    timeout: float,
    clock: Clock | None = None,
    pause: float = 2,
) -> Any:
    """The object once its `phase` (name and message) is a good one. Raises NotReadyError in the end."""
    clock = clock or Clock()
    end = clock.now() + timeout
    while True:
        found = look()
        name, message = phase(found)
        if name in good:
            return found
        if clock.now() >= end:
            told = f"{name or 'no phase'}{f' ({message})' if message else ''} after {timeout:g} s"
            raise NotReadyError(subject, told, " or ".join(sorted(good)), advice)
        clock.sleep(pause)


def until_gone(
    look: Callable[[], Any],
    subject: str,
    advice: str,
    timeout: float,
    clock: Clock | None = None,
    pause: float = 2,
) -> None:
    """Return once `look` raises NotFoundError or tells None. Raises NotReadyError after `timeout` seconds."""
    clock = clock or Clock()
    end = clock.now() + timeout
    while True:
        try:
            if look() is None:
                return
        except NotFoundError:
            return
        if clock.now() >= end:
            raise NotReadyError(subject, f"still there after {timeout:g} s", "gone", advice)
        clock.sleep(pause)
