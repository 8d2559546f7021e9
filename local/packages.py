"""Debian packages of the machine and the Python environment."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from local import paths, shell

LIST = paths.ROOT / "local" / "packages.txt"
LOCK = paths.ROOT / "requirements.lock"
BOOTSTRAP = paths.ROOT / "local" / "uv.lock"


def wanted() -> list[str]:
    """Return the names in packages.txt."""
    lines = (line.split("#")[0].strip() for line in LIST.read_text().splitlines())
    return [line for line in lines if line]


def installed() -> bool:
    """Return whether every wanted package is installed."""
    return shell.succeeds(["dpkg-query", "--show", *wanted()])


def install() -> None:
    """Install what is missing; needs root, and says so otherwise."""
    if os.geteuid() != 0:
        raise PermissionError(
            f"Debian packages {', '.join(wanted())}: not all are installed and this user is not root; "
            f"run: sudo apt-get install {' '.join(wanted())}"
        )
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    shell.run(["apt-get", "update"], env=quiet)
    shell.run(["apt-get", "install", "--yes", "--no-install-recommends", *wanted()], env=quiet)


def python_stamp() -> Path:
    """Return the file that says which lock file the environment was made from."""
    return paths.VENV / f"lock-{paths.key([LOCK, BOOTSTRAP, sys.version])}"


def python_ready() -> bool:
    """Return whether the environment was made from today's lock file."""
    return python_stamp().exists()


def python_install() -> None:
    """Make the virtual environment from the lock files, hashes required."""
    shutil.rmtree(paths.VENV, ignore_errors=True)
    shell.run([sys.executable, "-m", "venv", paths.VENV])
    python = paths.VENV / "bin" / "python"
    shell.run([python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", BOOTSTRAP])
    uv = paths.VENV / "bin" / "uv"
    sync: list[str | Path] = [uv, "pip", "sync", "--system-certs", "--quiet", "--require-hashes"]
    shell.run([*sync, "--python", python, LOCK, BOOTSTRAP])
    python_stamp().touch()
