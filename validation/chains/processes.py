"""Playbooks as processes, several at a time; each line of theirs is told with the chain's name before it."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PLAYBOOK = "validation/site.yml"


@dataclass(frozen=True)
class Part:
    """A part of a run: tests by tag, variables, and variables of the process' environment."""

    name: str
    tests: tuple[str, ...]
    variables: Mapping[str, Any]
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self, inventory: Path) -> list[str]:
        """As a person would write it."""
        tags = ["--tags", ",".join(self.tests)] if self.tests else ["--tags", "never"]
        return ["ansible-playbook", "-i", str(inventory), PLAYBOOK, *tags, "-e", json.dumps(self.variables)]


def worth_telling(lines: Iterable[str]) -> Iterator[str]:
    """Lines without the empty ones and without the headings of plays in which nothing happened."""
    heading = ""
    for line in (line.rstrip() for line in lines):
        if line.startswith("PLAY ["):
            heading = line
        elif line:
            if heading:
                yield heading
            heading = ""
            yield line


class Running:
    """A started part."""

    def __init__(self, part: Part, inventory: Path, root: Path, *, told: bool) -> None:
        self.part = part
        self.process = subprocess.Popen(
            part.command(inventory),
            cwd=root,
            env=dict(part.environment),
            stdout=subprocess.PIPE if told else None,
            stderr=subprocess.STDOUT if told else None,
            text=True,
        )
        self._teller = threading.Thread(target=self._tell, daemon=True)
        if told:
            self._teller.start()

    def _tell(self) -> None:
        for line in worth_telling(self.process.stdout or ()):
            print(f"{self.part.name:>4} | {line}", flush=True)

    def wait(self) -> int:
        """Status of the process, after the last of its lines."""
        status = self.process.wait()
        if self._teller.is_alive():
            self._teller.join(timeout=10)
        return status

    def end(self) -> None:
        """Politely, then not."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def play(parts: list[Part], inventory: Path, root: Path) -> dict[str, int]:
    """Status by name of parts that run beside each other; when this process is stopped they are, too."""
    running: list[Running] = []
    try:
        for part in parts:
            running.append(Running(part, inventory, root, told=len(parts) > 1))
        return {each.part.name: each.wait() for each in running}
    finally:
        for each in running:
            each.end()
