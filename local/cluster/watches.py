"""The nodes of all clusters share the machine's limits of inotify; its defaults are spent by three clusters.

kind names the same limits among its known issues: "too many open files" of a kubelet.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path("/proc/sys/fs/inotify")
# What kind advises.
WANTED = {"max_user_instances": 512, "max_user_watches": 524288}


def provide() -> None:
    """Raise each limit that is lower, where this user may; it stays until the machine starts again.

    Taking it back with this cluster would take it from the others.
    """
    for name, wanted in WANTED.items():
        if _now(name) < wanted:
            try:
                (FOLDER / name).write_text(str(wanted))
            except OSError:
                return  # One cluster does without; `advice` tells the others.


def advice() -> str:
    """What to do where the limits are still low; empty where they are not."""
    low = [f"fs.inotify.{name}={wanted}" for name, wanted in WANTED.items() if _now(name) < wanted]
    return f"; if they tell of too many open files: sysctl -w {' '.join(low)}" if low else ""


def _now(name: str) -> int:
    return int((FOLDER / name).read_text())
