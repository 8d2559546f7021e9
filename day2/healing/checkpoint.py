"""A checkpoint that no longer reads: Pulumi replaces the file whole, a machine that loses power may not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from day2.healing.command import HealError, Json, Pulumi, say

FILES = "file://"


def state(pulumi: Pulumi, project: str) -> Json:
    """The stack's state; a file that does not read is replaced by the one before it, if that does.

    Raises HealError as Pulumi would, where the backend is no folder or neither reads.
    """
    try:
        return pulumi.state()
    except HealError:
        file = _file(pulumi, project)
        before = file.with_name(f"{file.name}.bak") if file else None
        if not file or not before or not _broken(file) or _broken(before):
            raise
    say(f"stack {pulumi.stack}: {file} does not read, going back to the checkpoint before it")
    shutil.copy2(file, file.with_name(f"{file.name}.broken"))
    shutil.copy2(before, file)
    return pulumi.state()


def _file(pulumi: Pulumi, project: str) -> Path | None:
    """The stack's checkpoint, None where the backend is no folder."""
    url = pulumi.backend()
    if not url.startswith(FILES):
        return None
    folder = Path(url.removeprefix(FILES)).expanduser()
    return folder / ".pulumi" / "stacks" / project / f"{pulumi.stack}.json"


def _broken(file: Path) -> bool:
    try:
        json.loads(file.read_bytes())
    except (OSError, ValueError):
        return True
    return False
