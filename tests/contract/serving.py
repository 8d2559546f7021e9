"""Runs a double on this machine over TLS."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI


@contextmanager
def over_tls(app: FastAPI, pem: Path, host: str = "localhost", port: int = 0) -> Iterator[str]:
    """Its address, on a free port for 0; `pem` holds key and certificate. Raises TimeoutError."""
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
        yield f"https://{host}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
