"""Serves the data set's four files as .gz on port 8080; on port 8081 it accepts and never answers.

`python3 mirror.py <folder>`; files without .gz, wherever they lie below the folder, are packed first. Behind
port 8082, which the Service names, nobody listens.
"""

from __future__ import annotations

import functools
import gzip
import http.server
import socket
import sys
import threading
from pathlib import Path

NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
MIRROR, SILENT = 8080, 8081


def prepare(folder: Path) -> None:
    """Each of the four files as <folder>/<name>.gz, as far as it is there."""
    for name in NAMES:
        target = folder / f"{name}.gz"
        packed = next(iter(folder.rglob(f"{name}.gz")), None)
        plain = next(iter(folder.rglob(name)), None)
        if packed and packed != target:
            packed.rename(target)
        elif plain and not packed:
            target.write_bytes(gzip.compress(plain.read_bytes(), compresslevel=1))


def be_silent(port: int) -> None:
    """Accept and keep connections; who connects waits for its own time-out."""
    kept = []
    listener = socket.create_server(("", port))
    while True:
        kept.append(listener.accept())


def main() -> None:
    """Command line."""
    folder = Path(sys.argv[1])
    prepare(folder)
    threading.Thread(target=be_silent, args=(SILENT,), daemon=True).start()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    http.server.ThreadingHTTPServer(("", MIRROR), handler).serve_forever()


if __name__ == "__main__":
    main()
