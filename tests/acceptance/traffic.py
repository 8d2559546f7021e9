"""Requests to a running service through the ingress, one every tenth of a second, while something changes."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from validation import https
from validation.ingress import Ingress

PAUSE_SECONDS = 0.1


@dataclass
class Traffic:
    """What came back: statuses, or the error's text; `slowest` and `seconds` in seconds."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    slowest: float = 0.0

    @property
    def sent(self) -> int:
        """Number of requests."""
        return sum(self.statuses.values())

    @property
    def failed(self) -> dict[str, int]:
        """Everything that was not answered with 200."""
        return {status: count for status, count in self.statuses.items() if status != "200"}

    def __str__(self) -> str:
        return (
            f"{self.sent} requests in {self.seconds:.0f} s, {sum(self.failed.values())} failed, "
            f"slowest {self.slowest:.2f} s"
        )


@contextmanager
def traffic(ingress: Ingress, url: str) -> Iterator[Traffic]:
    """Send until the block ends; each request has a connection of its own and 30 seconds."""
    found, stop = Traffic(), threading.Event()
    begun = time.monotonic()

    def send() -> None:
        while not stop.is_set():
            sent = time.monotonic()
            try:
                status = str(https.request(ingress, url, timeout=30).status)
            except https.HttpsError as error:
                status = str(error)[:200]
            found.statuses[status] += 1
            took = time.monotonic() - sent
            found.slowest = max(found.slowest, took)
            stop.wait(max(0.0, PAUSE_SECONDS - took))

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield found
    finally:
        stop.set()
        sender.join(60)
        found.seconds = time.monotonic() - begun
