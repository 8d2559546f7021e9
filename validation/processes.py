"""Other processes of a run."""

from __future__ import annotations

import os
from pathlib import Path


def alive(pid: int) -> bool:
    """Does a process still run?"""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # A zombie answers signals; its command line is empty.
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes()) if Path("/proc").is_dir() else True
    except OSError:
        return False
