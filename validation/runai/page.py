"""The CLI's words of a test as a file of its evidence, in the order of the steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from validation.files import write_atomically

NAME = "cli.txt"


def add(folder: Path, head: Sequence[str], commands: Sequence[str]) -> Path:
    """Add commands to the file, which begins with `head`; what stands there already is not repeated."""
    file = folder / NAME
    text = file.read_text(encoding="utf-8") if file.exists() else _lines(head)
    write_atomically(file, text + _lines([command for command in commands if f"{command}\n" not in text]))
    return file


def _lines(commands: Sequence[str]) -> str:
    return "".join(f"{command}\n" for command in commands)
