"""A planted secret, and the search for it: in bytes, in files, and in what processes were started with."""

from __future__ import annotations

import base64
import json
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# By the vendor's rule for passwords, and other than itself in base64, in an address and in JSON.
CANARY = "c4nary-Zq8/w+7=x"


def forms(secret: str) -> dict[str, bytes]:
    """The secret as it is, in base64 at each alignment, URL-encoded, and as JSON writes it."""
    found = {"plain": secret, "url": urllib.parse.quote(secret, safe=""), "json": json.dumps(secret)[1:-1]}
    for shift in range(3):
        whole = base64.b64encode(b"_" * shift + secret.encode()).decode()
        # What only these bytes decide: the first and last groups also hold neighbours.
        found[f"base64 at {shift}"] = whole[4 if shift else 0 : len(whole) - 4]
    return {name: text.encode() for name, text in found.items()}


def leaks(data: bytes, secret: str = CANARY) -> list[str]:
    """Forms of the secret that are in the data."""
    return [name for name, form in forms(secret).items() if form in data]


def leaking(folder: Path) -> list[str]:
    """Files below a folder that hold the secret in any form."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [f"{path}: {found}" for path in files if (found := leaks(path.read_bytes()))]


@contextmanager
def watched_arguments() -> Iterator[set[bytes]]:
    """Command lines of all processes of this machine, looked at again and again until the block ends."""
    seen: set[bytes] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.05):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(path.read_bytes())
                except OSError:
                    continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()
