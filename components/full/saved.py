"""Where `make backup` leaves its folders, and how old the newest one of a stack is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

FORMAT = 1
NAME = "backup.yaml"
_FOLDER = Path("build") / "backups"


def folder_of(root: Path, stack: str) -> Path:
    """The folder of all backups of a stack."""
    return root / _FOLDER / stack


def age(root: Path, stack: str, url: str) -> timedelta | None:
    """How long ago the newest whole backup of this control plane was made; None without any.

    A folder without the file was not written to its end.
    """
    made = [_made(path, url) for path in folder_of(root, stack).glob(f"*/{NAME}")]
    known = [moment for moment in made if moment is not None]
    return datetime.now(UTC) - max(known) if known else None


def _made(path: Path, url: str) -> datetime | None:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT or data["controlPlane"]["url"] != url:
            return None
        return datetime.fromisoformat(data["made"])
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, ValueError):
        return None
