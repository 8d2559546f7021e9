"""Compares what was stated with what is there: only fields that were stated, wherever they are nested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from day2.drift.normal import nothing, same

Json = dict[str, Any]
Path = tuple[str, ...]
# What tells the items of a list apart, where each item has it and no two the same.
_KEYS: tuple[tuple[str, ...], ...] = (
    ("name",),
    ("mountPath",),
    ("containerPort", "protocol"),
    ("port", "protocol"),
)


@dataclass(frozen=True)
class Difference:
    """A field that is not as stated; None is "not there"."""

    path: Path
    expected: Any
    found: Any


def differences(expected: Any, found: Any, path: Path = ()) -> Iterator[Difference]:
    """Every stated field that is missing or different, and items that a stated list does not have."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from differences(value, found.get(key), (*path, str(key)))
    elif isinstance(expected, list) and isinstance(found, list):
        yield from _lists(expected, found, path)
    elif isinstance(expected, dict) and found is None:
        # The server drops a map of which nothing is stated.
        if not all(nothing(value) for value in expected.values()):
            yield Difference(path, expected, None)
    elif not same(expected, found, path):
        yield Difference(path, expected, found)


def _lists(expected: list[Any], found: list[Any], path: Path) -> Iterator[Difference]:
    for key in _KEYS:
        stated, there = _keyed(expected, key), _keyed(found, key)
        if stated is None or there is None:
            continue
        for name in {**stated, **there}:
            yield from differences(stated.get(name), there.get(name), (*path, f"[{name}]"))
        return
    if any(isinstance(item, dict | list) for item in expected) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, (*path, f"[{index}]"))
    elif expected != found:
        yield Difference(path, expected, found)


def _keyed(items: list[Any], key: tuple[str, ...]) -> dict[str, Any] | None:
    """Items by what tells them apart, or None where that does not."""
    if not items or not all(isinstance(item, dict) and key[0] in item for item in items):
        return None
    # A protocol that is not stated is TCP.
    names = ["/".join(str(item.get(part, "TCP")) for part in key) for item in items]
    return dict(zip(names, items, strict=True)) if len(set(names)) == len(names) else None


def written(path: Path) -> str:
    """A path as people write it: `spec.containers[main].image`; keys with dots in brackets."""
    text = ""
    for part in path:
        if part.startswith("["):
            text += part
        elif "." in part or "/" in part:
            text += f'["{part}"]'
        else:
            text += f".{part}" if text else part
    return text
