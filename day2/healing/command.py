"""The Pulumi CLI for one stack, and the error that all of this package ends in."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]
SHOWN_LINES = 12


class HealError(Exception):
    """Nothing more can be put right by itself; the text says what was found, expected, and what to do."""


def say(text: str) -> None:
    """Tell the operator what is done."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Pulumi:
    """`program` acts on `stack` of the project in folder `project`, with the caller's backend."""

    stack: str
    project: Path
    program: str = "pulumi"

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command on the stack to its end, whatever its status."""
        return self._call(*words, "--stack", self.stack)

    def run(self, *words: str) -> str:
        """Standard output of a command on the stack; HealError with its last lines when it fails."""
        done = self.call(*words)
        if done.returncode != 0:
            raise HealError(self.ended(done, words[0]))
        return done.stdout

    def ended(self, done: subprocess.CompletedProcess[str], word: str) -> str:
        """How a command `word` on the stack ended, with its last lines."""
        told = "\n  ".join((done.stdout + done.stderr).strip().splitlines()[-SHOWN_LINES:])
        return f"pulumi {word} --stack {self.stack} ended with {done.returncode}:\n  {told}"

    def state(self) -> Json:
        """The stack's deployment as the backend has it, empty before the first checkpoint."""
        exported: Json = json.loads(self.run("stack", "export"))
        return exported.get("deployment") or {}

    def settings(self) -> Json:
        """The stack file's keys with their values, secrets masked."""
        told: Json = json.loads(self.run("config", "--json"))
        return {key: item.get("objectValue", item.get("value")) for key, item in told.items()}

    def named(self) -> str:
        """The project's name, which is a part of every URN."""
        return str(yaml.safe_load((self.project / "Pulumi.yaml").read_text())["name"])

    def backend(self) -> str:
        """The backend's address, empty when Pulumi does not tell."""
        told: Json = json.loads(self._call("whoami", "--verbose", "--json").stdout or "{}")
        return str(told.get("url", ""))

    def _call(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [self.program, *words, "--non-interactive"]
        nothing = subprocess.DEVNULL
        try:
            return subprocess.run(command, cwd=self.project, stdin=nothing, capture_output=True, text=True)
        except FileNotFoundError:
            raise HealError(f"{self.program}: not on PATH, expected Pulumi's CLI; install it") from None
