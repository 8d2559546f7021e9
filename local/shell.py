"""Running commands: output to the stage's log, one clear error when a command fails."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO


class CommandError(Exception):
    """A command ended with a status other than 0; the text names it and its last lines."""


_current = threading.local()


def log_to(handle: IO[str] | None) -> None:
    """Send the output of this thread's commands to `handle`; None means standard output."""
    _current.log = handle


def say(text: str) -> None:
    """Write a line to this thread's log."""
    handle = getattr(_current, "log", None) or sys.stdout
    handle.write(f"{text}\n")
    handle.flush()


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
) -> None:
    """Run a command with its output in the log.

    Raises CommandError with the last lines of that output.
    """
    words = [str(word) for word in command]
    say(f"$ {shlex.join(words)}")
    tail: list[str] = []
    with subprocess.Popen(
        words,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        if stdin is not None and process.stdin is not None:
            process.stdin.write(stdin)
            process.stdin.close()
        assert process.stdout is not None
        for line in process.stdout:
            say(line.rstrip("\n"))
            tail = [*tail[-14:], line.rstrip("\n")]
    if process.returncode != 0:
        text = "\n  ".join(tail)
        raise CommandError(f"{shlex.join(words[:4])} … ended with status {process.returncode}:\n  {text}")


def read(
    command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> str:
    """Return a command's standard output, stripped; raises CommandError with its standard error."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise CommandError(
            f"{shlex.join(words[:4])} … ended with status {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout.strip()


def succeeds(command: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> bool:
    """Return whether a command exists and ends with status 0; its output is dropped."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return False
    return done.returncode == 0
