"""Runs the double on this machine over TLS."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from tests.contract.control_plane.app import application
from tests.contract.control_plane.options import Options
from tests.contract.control_plane.state import State


@dataclass(frozen=True)
class Running:
    """Where the double answers, and what it knows."""

    url: str
    state: State


@contextmanager
def running(options: Options, pem: Path, host: str = "localhost", port: int = 0) -> Iterator[Running]:
    """The double on a port, 0 for a free one; `pem` holds key and certificate. Raises TimeoutError."""
    app, state = application(options)
    listening = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(
        app,
        ssl_certfile=pem,
        ssl_keyfile=pem,
        log_level="warning",
        lifespan="off",
        timeout_graceful_shutdown=0,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    end = time.monotonic() + 30
    while not server.started:
        if time.monotonic() > end:
            raise TimeoutError("the double did not start within 30 s")
        time.sleep(0.02)
    try:
        yield Running(f"https://{host}:{listening.getsockname()[1]}", state)
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
