"""The numbered failures that users of Run:ai ran into (known_failures.yml), typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from validation import declared

TABLE = Path(__file__).with_name("known_failures.yml")
SHOWN = ("live", "replay", "documented")


class KnownFailuresError(ValueError):
    """An entry of the table that is not whole; the text names number and key."""


@dataclass(frozen=True)
class Failure:
    """One failure; `tests` are those of a failure that no check sees and a wait or a rule handles."""

    number: int
    symptom: str
    cause: str
    shown: str
    source: str
    checks: tuple[str, ...] = ()
    todo: str = ""
    tests: tuple[str, ...] = ()

    def advice(self) -> list[str]:
        """What to do, by the check that sees it: checks that share an advice say it once."""
        told = [declared.find(check).todo for check in self.checks]
        return list(dict.fromkeys([*([self.todo] if self.todo else []), *told]))


def failures() -> list[Failure]:
    """All of them by number. Raises KnownFailuresError."""
    raw: dict[int, dict[str, Any]] = yaml.safe_load(TABLE.read_text())
    return [_failure(number, entry) for number, entry in sorted(raw.items())]


def _failure(number: int, entry: dict[str, Any]) -> Failure:
    checks, tests = tuple(entry.pop("checks", ())), tuple(entry.pop("tests", ()))
    try:
        found = Failure(number, checks=checks, tests=tests, **entry)
    except TypeError as error:
        raise KnownFailuresError(f"{TABLE.name}, {number}: {error}") from None
    if found.shown not in SHOWN:
        raise KnownFailuresError(
            f"{TABLE.name}, {number}: shown is {found.shown!r}, expected one of {', '.join(SHOWN)}"
        )
    documented = found.shown == "documented"
    if documented == bool(found.checks or found.tests):
        raise KnownFailuresError(
            f"{TABLE.name}, {number}: checks or tests exactly where it is not documented only"
        )
    if not found.advice():
        raise KnownFailuresError(f"{TABLE.name}, {number}: nothing says what to do; give checks, or todo")
    return found
