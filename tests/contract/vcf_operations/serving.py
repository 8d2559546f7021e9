"""Runs the double on this machine over TLS."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from tests.contract.vcf_operations.app import application
from tests.contract.vcf_operations.state import State


@contextmanager
def running(state: State, pem: Path, host: str = "localhost") -> Iterator[str]:
    """Its address on a free port; `pem` holds key and certificate. Raises TimeoutError."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        application(state), ssl_certfile=pem, ssl_keyfile=pem, log_level="warning", lifespan="off"
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
        yield f"https://{host}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
