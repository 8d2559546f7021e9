"""A checkpoint that no longer reads.

Pulumi's file backend replaces the checkpoint whole, but writes the attributes beside it (`.attrs`) in place:
a kill leaves them empty, and no command can load the stack. A machine that loses power may leave the
checkpoint itself so.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from day2.healing.command import HealError, Json, Pulumi, say

FILES = "file://"


def state(pulumi: Pulumi, project: str) -> Json:
    """The stack's state; attributes that do not read go, a file goes back to the one before it.

    Raises HealError as Pulumi would, where the backend is no folder or neither reads.
    """
    try:
        return pulumi.state()
    except HealError:
        file = _file(pulumi, project)
        if file and _drop_attributes(file):
            return state(pulumi, project)
        before = file.with_name(f"{file.name}.bak") if file else None
        if not file or not before or not _broken(file) or _broken(before):
            raise
    say(f"stack {pulumi.stack}: {file} does not read, going back to the checkpoint before it")
    shutil.copy2(file, file.with_name(f"{file.name}.broken"))
    shutil.copy2(before, file)
    return pulumi.state()


def _drop_attributes(file: Path) -> bool:
    """Remove attributes that do not read; they hold a content type and a checksum, and may be absent."""
    broken = [path for path in file.parent.glob(f"{file.name}*.attrs") if _broken(path)]
    for path in broken:
        say(f"{path}: does not read, removing it")
        path.unlink()
    return bool(broken)


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
