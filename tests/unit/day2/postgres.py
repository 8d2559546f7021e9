"""A PostgreSQL server of this machine, where its Debian package is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def server() -> Path | None:
    """Programs of a PostgreSQL server on this machine."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found and shutil.which("setpriv") and os.geteuid() == 0 else None


@contextmanager
def running(programs: Path, secret: str) -> Iterator[dict[str, str]]:
    """A server that asks for the password, on a socket of its own; how to reach it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "password").write_text(secret)
        for path in (folder, folder / "password"):
            shutil.chown(path, "nobody")
        as_nobody = ["setpriv", "--reuid=nobody", "--clear-groups"]
        data = ["--pgdata", str(folder / "data")]
        made = ["--username=postgres", f"--pwfile={folder / 'password'}", "--auth=scram-sha-256", "--no-sync"]
        subprocess.run(
            [*as_nobody, programs / "initdb", *data, *made], check=True, capture_output=True, timeout=120
        )
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        start = ["--wait", "--log", str(folder / "log"), "--options", options, "start"]
        subprocess.run(
            [*as_nobody, programs / "pg_ctl", *data, *start], check=True, capture_output=True, timeout=120
        )
        try:
            yield {"PGHOST": str(folder), "PATH": f"{programs}:{os.environ['PATH']}"}
        finally:
            stop = ["--mode=immediate", "stop"]
            subprocess.run([*as_nobody, programs / "pg_ctl", *data, *stop], capture_output=True, timeout=60)
