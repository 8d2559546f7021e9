"""kind mounts /lib/modules of the machine into its nodes; some machines have none."""

from __future__ import annotations

from pathlib import Path

from local import paths

FOLDER = Path("/lib/modules")


def _mark() -> Path:
    return paths.STATE / "made-lib-modules"


def provide() -> None:
    """Make the folder where there is none, and remember that it is ours."""
    if not FOLDER.exists():
        FOLDER.mkdir()
        _mark().touch()


def withdraw() -> None:
    """Remove the folder again if it was made here and is still empty."""
    if _mark().exists():
        if FOLDER.exists() and not any(FOLDER.iterdir()):
            FOLDER.rmdir()
        _mark().unlink()
