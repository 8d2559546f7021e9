"""Settings problems as lines a person can act on: key path, found, expected, what to do."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass

import pulumi
from pydantic import ValidationError
from pydantic_core import ErrorDetails

NAMESPACE = "runai-kit"

# What pydantic calls a wrong type, and what the stack file should hold instead.
_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of settings",
    "list_type": "a list",
    "tuple_type": "a list",
    "missing": "a value",
}


@dataclass(frozen=True)
class Problem:
    """One thing wrong with the settings; `path` is the key below `runai-kit:`, e.g. `scheduler.version`."""

    path: str
    found: str
    expected: str
    advice: str

    def __str__(self) -> str:
        return f"{NAMESPACE}:{self.path}: found {self.found}; expected {self.expected}; {self.advice}"


class SettingsError(pulumi.RunError):
    """All problems of one stack file; a RunError, so that `pulumi` shows it without a traceback."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        head = f"{count} problem{'s' if count != 1 else ''} in the stack's settings, nothing was changed:"
        super().__init__("\n  ".join([head, *map(str, self.problems)]))


def path_of(location: Iterable[int | str]) -> str:
    """`('departments', 0, 'gpu')` → `departments[0].gpu`."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def from_validation(
    error: ValidationError,
    known: dict[tuple[str, ...], list[str]],
    secret: frozenset[str],
    hidden: frozenset[tuple[str, ...]],
) -> SettingsError:
    """Turn pydantic's list into problems.

    `known` maps a model's place (list indices left out) to its field names. Not shown are values below the
    top-level keys `secret`, and those on the way to one of the places `hidden`.
    """
    return SettingsError(
        _problem(item, known, secret, hidden)
        for item in error.errors(include_url=False, include_context=True)
    )


def _problem(
    item: ErrorDetails,
    known: dict[tuple[str, ...], list[str]],
    secret: frozenset[str],
    hidden: frozenset[tuple[str, ...]],
) -> Problem:
    location = tuple(item["loc"])
    path = path_of(location)
    keys = tuple(part for part in location if isinstance(part, str))
    if item["type"] == "extra_forbidden":
        names = known.get(keys[:-1], [])
        close = difflib.get_close_matches(str(location[-1]), names, n=1)
        advice = f"did you mean {close[0]}?" if close else "remove the key"
        return Problem(path, "an unknown key", f"one of {', '.join(sorted(names)) or 'no keys here'}", advice)
    secretive = bool(secret.intersection(keys[:1])) or any(place[: len(keys)] == keys for place in hidden)
    found = "nothing" if item["type"] == "missing" else "a secret" if secretive else show(item["input"])
    return Problem(path, found, _expectation(item), "set it" if item["type"] == "missing" else "correct it")


def _expectation(item: ErrorDetails) -> str:
    kind = item["type"]
    context = item.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "literal_error":
        return str(context["expected"])
    if kind in {"greater_than_equal", "less_than_equal"}:
        return f"{'at least' if 'ge' in context else 'at most'} {context.get('ge', context.get('le'))}"
    if kind == "string_too_short":
        return "a text that is not empty"
    return item["msg"]


def show(value: object) -> str:
    """A value as it would stand in the stack file, cut to a length that fits one line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
