"""When two observations are the same although not equal: names, times and numbers of a single run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# Durations: how busy the machine was. Only a factor says something.
_TIMES = re.compile(r"(seconds|milliseconds|latenc|days|\bms\b|\bat\b|p50|p95|p99)", re.IGNORECASE)
_FACTOR = 3.0
# Counts up to here are compared to the one, larger numbers by their size.
_SMALL = 16
_SHARE = 0.1
# Beyond this a number that a run expected and saw was drawn for that run.
_DRAWN = 1_000_000
_VERSION = re.compile(r"v?\d+(\.\d+)+([-+][\w.]+)?")
_OF_ONE_RUN = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b", "<uuid>"),
        (r"\b[0-9a-f]{12,}\b", "<hex>"),
        # Ends of names that Kubernetes makes up.
        (r"-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-<name>"),
        (r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-<name>"),
        (r"\d+", ""),
    )
)
Leaf = tuple[str, Any]


def same_text(text: str) -> str:
    """A text without what belongs to one run; a version number stays as it is."""
    if _VERSION.fullmatch(text):
        return text
    for pattern, replacement in _OF_ONE_RUN:
        text = pattern.sub(replacement, text)
    return text


def leaves(node: Any, path: str = "") -> Iterator[Leaf]:
    """Path and value of everything that is no mapping, a list as one value; paths are those of any run."""
    if isinstance(node, dict) and node:
        seen: dict[str, int] = {}
        for key, value in sorted(node.items()):
            name = same_text(str(key))
            seen[name] = seen.get(name, 0) + 1
            # Several pods of one kind differ by what was taken out of their names.
            step = name if seen[name] == 1 else f"{name}#{seen[name]}"
            yield from leaves(value, f"{path}.{step}" if path else step)
    else:
        yield path, node


def moved(path: str, before: Any, now: Any) -> bool:
    """Whether two values of one path differ by more than runs of the same system do."""
    if _is_number(before) and _is_number(now):
        return _number(path, float(before), float(now))
    if isinstance(before, str) and isinstance(now, str):
        return same_text(before) != same_text(now)
    if isinstance(before, list) and isinstance(now, list):
        return sorted(map(_canonical, before)) != sorted(map(_canonical, now))
    return bool(before != now)


def drawn(value: Any) -> bool:
    """Whether a number looks like one that a run drew for itself."""
    return _is_number(value) and abs(value) >= _DRAWN


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(path: str, before: float, now: float) -> bool:
    low, high = sorted((abs(before), abs(now)))
    if before * now < 0:
        return True
    if _TIMES.search(path):
        return high > 1 and high > _FACTOR * max(low, 1.0)
    if high <= _SMALL and before.is_integer() and now.is_integer():
        return before != now
    return high - low > _SHARE * high


def _canonical(item: Any) -> str:
    return repr(
        [(path, same_text(value) if isinstance(value, str) else value) for path, value in leaves(item)]
    )
