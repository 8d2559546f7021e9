"""The table of declared checks (checks.yml), typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TABLE = Path(__file__).with_name("checks.yml")
# The test that guards the others; it runs whatever tags were chosen.
GUARD = "preflight"


@dataclass(frozen=True)
class Check:
    """One declared check; `requirement` is an id of the requirements table; late: judged at the end.

    `only`: the one value that a stack output must have for the check to be about it, by the output's path.
    """

    id: str
    test: str
    requirement: str
    title: str
    todo: str
    proof: str = "live"
    blocking: bool = False
    late: bool = False
    only: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Test:
    """A test and its checks, in the order of the table; tests of one chain run one after another.

    `nodes`: GPU nodes that a test of chain gpu needs for as good a proof as on the whole cluster.
    """

    name: str
    requirement: str
    title: str
    checks: tuple[Check, ...]
    chain: str = ""
    nodes: int = 1

    def names(self) -> set[str]:
        """Words by which `--tags` or a n/a declaration can mean this test."""
        return {self.name, self.requirement}


@cache
def tests() -> dict[str, Test]:
    """All declared tests by name."""
    raw: dict[str, Any] = yaml.safe_load(TABLE.read_text())
    return {name: _test(name, entry) for name, entry in raw.items()}


def _test(name: str, entry: dict[str, Any]) -> Test:
    requirement = entry["requirement"]
    checks = tuple(
        Check(
            id=check_id,
            test=name,
            requirement=check.get("requirement", requirement),
            title=check["title"],
            todo=check["todo"],
            proof=check.get("proof", "live"),
            blocking=check.get("blocking", False),
            late=check.get("late", False),
            only=tuple(check.get("only", {}).items()),
        )
        for check_id, check in entry["checks"].items()
    )
    return Test(name, requirement, entry["title"], checks, entry.get("chain", ""), entry.get("nodes", 1))


def checks() -> dict[str, Check]:
    """All declared checks by id."""
    return {check.id: check for test in tests().values() for check in test.checks}


def beside(outputs: Mapping[str, Any]) -> dict[str, str]:
    """Check id -> why it is not applicable to a stack with these outputs; none where there are no outputs."""
    found: dict[str, str] = {}
    for check in checks().values() if outputs else ():
        for path, value in check.only:
            if (here := _output(outputs, path)) != value:
                why = f"it is about {path} {value}, and this stack's {path} is {here or 'not set'}"
                found.setdefault(check.id, why)
    return found


def _output(outputs: Mapping[str, Any], path: str) -> str:
    found: Any = outputs
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return str(found).lower() if isinstance(found, bool) else str(found or "")


def find(check_id: str) -> Check:
    """The declared check; KeyError text says where to declare it."""
    try:
        return checks()[check_id]
    except KeyError:
        raise KeyError(f"check {check_id!r} is not declared in validation/{TABLE.name}") from None


def chosen(run_tags: list[str], skip_tags: list[str]) -> list[str]:
    """Tests that a run with these Ansible tags carries out; the guard always."""
    wanted = set(run_tags) - {"untagged", "tagged"}
    everything = not wanted or "all" in wanted
    return [
        name
        for name, test in tests().items()
        if name == GUARD or ((everything or test.names() & wanted) and not test.names() & set(skip_tags))
    ]
