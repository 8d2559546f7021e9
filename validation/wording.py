"""What requirements are about (wording.yml)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

TABLE = Path(__file__).with_name("wording.yml")


@cache
def wording() -> dict[str, str]:
    """Requirement id → one line of text."""
    found: dict[str, str] = yaml.safe_load(TABLE.read_text())
    return found


def order(requirement: str) -> tuple[str, int]:
    """Sorts I2 before I10 before V1."""
    return requirement[:1], int(requirement[1:] or 0)
