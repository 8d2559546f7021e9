"""An action's process ends with the playbook that started it.

Ansible gives each task a process in a session of its own: a signal to the playbook's process group does not
reach it. One that goes on waiting, or cleaning up, would meet the next run's objects.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time

INTERVAL_SECONDS = 0.5
KILLED = 137


def follow() -> threading.Thread | None:
    """Watch the process that forked this one, and end with it; None where this is no forked one."""
    if multiprocessing.parent_process() is None:
        return None
    watcher = threading.Thread(target=_watch, args=(os.getppid(),), daemon=True)
    watcher.start()
    return watcher


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(INTERVAL_SECONDS)
    os._exit(KILLED)
