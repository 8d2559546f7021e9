"""Running what people run after the installation: `make drift`, `make destroy`, and bringing the stack up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass

from tests.acceptance.conftest import ROOT

STACK = os.environ.get("KIT_STACK", "local")
# What `make drift` runs; make itself would turn every failure into 2.
DRIFT = (sys.executable, "-m", "day2.drift", STACK)


@dataclass(frozen=True)
class Done:
    """How a command ended; `text` is both of its outputs, `seconds` how long it took."""

    code: int
    text: str
    seconds: float

    def why(self) -> str:
        """What a failed run of Pulumi says about it: the outputs after it are long and say nothing."""
        return self.text.partition("Diagnostics:")[2].partition("Outputs:")[0] or self.text[-3000:]

    def lines(self, start: str) -> list[str]:
        """Lines that begin so."""
        return [line for line in self.text.splitlines() if line.startswith(start)]


def run(*command: str, timeout: float = 420) -> Done:
    """Run a command in the project. A command that hangs fails the test."""
    start = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout)
    return Done(done.returncode, done.stdout + done.stderr, time.monotonic() - start)


def drift() -> Done:
    """What `make drift` runs, with its own exit code."""
    return run(*DRIFT, timeout=120)


def destroy(*options: str) -> Done:
    """What `make destroy YES=1` runs."""
    return run(sys.executable, "-m", "day2.destroy", STACK, "--yes", *options)


def up(*options: str) -> Done:
    """`pulumi up` of the stack as it is in its file."""
    done = run("pulumi", "up", "--stack", STACK, "--yes", "--skip-preview", "--non-interactive", *options)
    assert done.code == 0, done.why()
    return done


def make_up() -> None:
    """What `make up` does to the local stack, whatever an earlier test left of it."""
    done = run(sys.executable, "-c", "from local import stack; stack.up()")
    assert done.code == 0, done.why()


def resources() -> list[str]:
    """URNs in the stack's state."""
    done = run("pulumi", "stack", "--stack", STACK, "--show-urns", "--non-interactive")
    assert done.code == 0, done.text
    return [line.split("URN: ")[1] for line in done.text.splitlines() if "URN: " in line]
