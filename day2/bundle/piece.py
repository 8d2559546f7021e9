"""Pieces of a bundle, gathered side by side and within a time that is bounded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field

WORKERS = 6


@dataclass(frozen=True)
class Piece:
    """One file of a bundle: its path, what it is, and how its text is got; whatever `get` raises is told."""

    path: str
    what: str
    get: Callable[[], str]


@dataclass
class Gathered:
    """Texts by path, what each is, and why a piece is missing, by path."""

    texts: dict[str, str] = field(default_factory=dict)
    what: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def leave_out(self, path: str, what: str, why: str) -> None:
        """A piece that is known not to be had."""
        self.what[path], self.missing[path] = what, why


def gather(pieces: Iterable[Piece], until: float, into: Gathered) -> None:
    """Get every piece that comes before `until` (time.monotonic); the others are missing, with the reason."""
    pool = ThreadPoolExecutor(WORKERS)
    running = {pool.submit(piece.get): piece for piece in pieces}
    done, late = wait(running, timeout=max(0.0, until - time.monotonic()))
    # What is under way ends by its own time-out, which is short; nobody waits for it.
    pool.shutdown(wait=False, cancel_futures=True)
    for future in [*done, *late]:
        piece = running[future]
        into.what[piece.path] = piece.what
        if future in late:
            into.missing[piece.path] = "the time for the bundle was over"
        elif (error := future.exception()) is not None:
            into.missing[piece.path] = f"{type(error).__name__}: {error}"
        else:
            into.texts[piece.path] = future.result()
