"""Runs the double on this machine over TLS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.contract.control_plane.app import application
from tests.contract.control_plane.options import Options
from tests.contract.control_plane.state import State
from tests.contract.serving import over_tls


@dataclass(frozen=True)
class Running:
    """Where the double answers, and what it knows."""

    url: str
    state: State


@contextmanager
def running(options: Options, pem: Path, host: str = "localhost", port: int = 0) -> Iterator[Running]:
    """The double on a port, 0 for a free one; `pem` holds key and certificate. Raises TimeoutError."""
    app, state = application(options)
    with over_tls(app, pem, host, port) as url:
        yield Running(url, state)
