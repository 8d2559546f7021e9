"""One way to wait for a cluster: look again and again, say what is missing, give up in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence


async def until(
    wrong: Callable[[], Sequence[str]],
    subject: str,
    failure: Callable[[str], Exception],
    timeout: float,
    pause: float,
    say: Callable[[str], None],
    clock: Callable[[], float],
) -> None:
    """Return once `wrong`, called in a thread every `pause` seconds, has nothing to tell.

    Raises what `failure` makes of the last reasons after `timeout` seconds.
    """
    end = clock() + timeout
    reported = ""
    while True:
        found = await asyncio.to_thread(wrong)
        if not found:
            return
        reason = "; ".join(found)
        if clock() >= end:
            raise failure(reason)
        if reason != reported:
            say(f"waiting for {subject}: {reason}")
            reported = reason
        await asyncio.sleep(pause)
