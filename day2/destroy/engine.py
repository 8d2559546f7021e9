"""`pulumi destroy` under watch: told line by line, stopped when nothing moves any more."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from components import private

# Seconds that Pulumi gets to write down its state after it was asked to stop.
_LEAVE = 30


def destroy(stack: str, root: Path, patience: float, say: Callable[[str], None]) -> int | None:
    """Pulumi's exit code, or None when it said nothing for `patience` seconds and was stopped."""
    # Its provider copies the kubeconfig into the temp folder.
    private.use()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # Shells begin background commands so, and what is begun by them could not be interrupted either.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command = ["pulumi", "destroy", "--yes", "--skip-preview", "--non-interactive", "--stack", stack]
    # A session of its own: the interrupt below goes to Pulumi and its plugins together.
    process = subprocess.Popen(
        command,
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=os.environ,
        start_new_session=True,
    )
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    try:
        moved = _follow(lines, patience, say)
        return process.wait() if moved else None
    finally:
        _stop(process)


def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line.rstrip("\n"))
    lines.put(None)


def _follow(lines: queue.Queue[str | None], patience: float, say: Callable[[str], None]) -> bool:
    """True when the output ended, False when it stood still."""
    while True:
        try:
            line = lines.get(timeout=patience)
        except queue.Empty:
            return False
        if line is None:
            return True
        if line.strip():
            say(line)


def _stop(process: subprocess.Popen[str]) -> None:
    """Ask, ask again, end it: a lock or an operation that it leaves is what `make heal` mends."""
    for sign in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, sign)
        end = time.monotonic() + _LEAVE
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
