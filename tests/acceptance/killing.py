"""An installation from nothing that is ended in its course, more than once, before it may become whole.

A moment is a line of Pulumi's own progress, or of the recovery's: what was just begun or done, whatever time
it took.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local import paths
from tests.acceptance import interrupting
from tests.acceptance.commands import YES, pulumi_command

UP = pulumi_command("up", *YES)
# Where the command that people are told to use tells its progress.
PROGRESS = paths.LOGS / "up.log"


@dataclass(frozen=True)
class Moment:
    """`line` of the log, and `seconds` later; `number` is the signal that ends the run."""

    name: str
    line: str
    seconds: float = 0
    number: int = signal.SIGKILL


def install(folder: Path, *moments: Moment) -> list[str]:
    """From nothing to the whole stack; each run but the last is ended at its moment. Returns rows for people.

    The first run is Pulumi's own, the others are what people are told to use then.
    """
    interrupting.nothing()
    log = folder / "up.log"
    rows = [_ended(log, log, moments[0], UP)]
    rows += [_ended(folder / "again.log", PROGRESS, moment, interrupting.AGAIN) for moment in moments[1:]]
    seconds, _ = interrupting.recover()
    begun = time.monotonic()
    interrupting.unchanged()
    return [*rows, f"whole in {seconds:.0f} s, looked at for {time.monotonic() - begun:.0f} s"]


def end_at(out: Path, log: Path, moment: Moment, command: Sequence[str]) -> None:
    """Begin a command and end it, with its children, at a moment of `log`; what it says goes to `out`."""
    log.unlink(missing_ok=True)
    process = interrupting.begin(out, *command)
    interrupting.reached(process, log, moment.line)
    time.sleep(moment.seconds)
    interrupting.kill(process, moment.number)


def _ended(out: Path, log: Path, moment: Moment, command: Sequence[str]) -> str:
    end_at(out, log, moment, command)
    left = interrupting.left()
    graceful = moment.number == signal.SIGINT
    assert left.locked is not graceful, f"{moment.name}: the run was not ended in its course"
    assert not graceful or left.resources > 0
    word = signal.Signals(moment.number).name
    pending = ", ".join(left.pending) or "nothing"
    return f"{word} at {moment.name}: {left.resources} resources, pending {pending}"
