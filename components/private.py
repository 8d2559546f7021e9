"""A temp folder of a run's own: `python -m components.private <command> …` gives the command one.

Pulumi's Kubernetes provider copies the kubeconfig into the temp folder and leaves it there; modules of
Ansible leave files, too. In a folder that only we can read and that goes with the run, nothing stays. A
killed run's folder is removed by the next run.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "runai-kit-run-"
LOCK = ".lock"
_used: list[Path] = []


@contextmanager
def folder() -> Iterator[Path]:
    """A folder below the temp folder, mode 0700, removed at the end."""
    sweep()
    path = Path(tempfile.mkdtemp(prefix=PREFIX))
    # Held by this process and its forks: what nobody holds belongs to a run that is gone.
    lock = os.open(path / f"{LOCK}.new", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(path / f"{LOCK}.new", path / LOCK)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def use() -> Path:
    """Make such a folder the TMPDIR of this process and of all it starts, until this process ends."""
    if not _used:
        owner, opened = os.getpid(), folder()
        _used.append(opened.__enter__())
        os.environ["TMPDIR"] = tempfile.tempdir = str(_used[0])

        def close() -> None:
            if os.getpid() == owner:
                opened.__exit__(None, None, None)

        atexit.register(close)
    return _used[0]


def sweep() -> list[Path]:
    """Remove the folders of runs that are gone; returns them. Those of others are not touched."""
    removed = []
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if path.is_symlink() or path.stat().st_uid != os.getuid() or not _abandoned(path / LOCK):
                continue
        except FileNotFoundError:
            continue
        shutil.rmtree(path, ignore_errors=True)
        removed.append(path)
    return removed


def _abandoned(lock: Path) -> bool:
    """Whether nobody holds the lock. FileNotFoundError for a folder that is being made or removed."""
    handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def main(command: list[str]) -> int:
    """Run a command with TMPDIR in such a folder; returns its status."""
    if not command:
        print("usage: python -m components.private <command> …", file=sys.stderr)
        return 2
    with folder() as path:
        try:
            process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(path)})
        except OSError as error:
            print(f"{command[0]}: {error.strerror}; expected a command on PATH", file=sys.stderr)
            return 127
        # Ctrl-C reaches the command by itself, and it decides how to end.
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        return process.wait()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
