"""Commands that the tests run to their end; Pulumi in a temp folder of its own.

Its provider copies the kubeconfig into the temp folder and leaves it there: `components.private` gives each
run one that goes with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.acceptance.conftest import ROOT

STACK = os.environ.get("KIT_STACK", "local")
# Without a question.
YES = ("--yes", "--skip-preview")
_PRIVATE = (sys.executable, "-m", "components.private")


@dataclass(frozen=True)
class Done:
    """How a command ended; `seconds` is how long it took."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def text(self) -> str:
        """All it said."""
        return self.out + self.err

    def why(self) -> str:
        """What a failed run of Pulumi says about it: the outputs after it are long and say nothing."""
        return self.text.partition("Diagnostics:")[2].partition("Outputs:")[0] or self.text[-3000:]

    def lines(self, start: str) -> list[str]:
        """Lines that begin so."""
        return [line for line in self.text.splitlines() if line.startswith(start)]

    def well(self) -> Done:
        """Itself; AssertionError when the command did not end well."""
        assert self.code == 0, f"ended with {self.code}: {self.why()}"
        return self


def run(
    *command: str,
    folder: Path = ROOT,
    env: Mapping[str, str] | None = None,
    text: str = "",
    timeout: float = 420,
) -> Done:
    """A command in `folder`, with `text` as its input. One that hangs fails the test."""
    start = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env=env, input=text, text=True, capture_output=True, timeout=timeout
    )
    return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - start)


def pulumi(
    *words: str,
    stack: str = STACK,
    folder: Path = ROOT,
    env: Mapping[str, str] | None = None,
    text: str = "",
    timeout: float = 600,
) -> Done:
    """`pulumi <words>` for a stack, in a folder from which the kit's packages can be imported."""
    return run(*pulumi_command(*words, stack=stack), folder=folder, env=env, text=text, timeout=timeout)


def pulumi_command(*words: str, stack: str = STACK) -> list[str]:
    """The words of such a command, for who wants to watch it."""
    return [*_PRIVATE, "pulumi", *words, "--stack", stack, "--non-interactive"]
