"""Expected against observed: the only place where a verdict comes from.

Values are equal, or the expectation is a matcher: a dict with exactly one of these keys
{"atLeast": n}, {"atMost": n}, {"oneOf": [...]}, {"matches": "regex"}, {"contains": value},
{"exactly": {...}} (a mapping without further keys).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Real
from typing import Any

_MATCHERS = {"atLeast", "atMost", "oneOf", "matches", "contains", "exactly"}
TOLERANCE = 1e-6


def differences(expected: Any, observed: Any, path: str = "") -> list[str]:
    """One line per difference, empty when the observation meets the expectation.

    Mappings are compared by the expected keys; what else was observed is information. An expected key that
    was not observed is a difference.
    """
    here = path or "value"
    if isinstance(expected, Mapping) and expected:
        if len(expected) == 1 and next(iter(expected)) in _MATCHERS:
            matcher, bound = next(iter(expected.items()))
            if matcher == "exactly" and isinstance(observed, Mapping):
                return _exact(bound, observed, path)
            return (
                []
                if _meets(matcher, bound, observed)
                else [f"{here}: expected {matcher} {bound}, found {observed}"]
            )
        if not isinstance(observed, Mapping):
            return [f"{here}: found {observed}"]
        lines: list[str] = []
        for key, value in expected.items():
            child = f"{path}.{key}" if path else str(key)
            if key not in observed:
                lines.append(f"{child}: expected {value}, not observed")
            else:
                lines += differences(value, observed[key], child)
        return lines
    return [] if _equal(expected, observed) else [f"{here}: expected {expected}, found {observed}"]


def _equal(expected: Any, observed: Any) -> bool:
    if isinstance(expected, bool) or isinstance(observed, bool):
        return expected is observed
    # Whole numbers are compared exactly, sums of fractions with a tolerance.
    if isinstance(expected, float) or isinstance(observed, float):
        if not (isinstance(expected, Real) and isinstance(observed, Real)):
            return False
        return abs(float(expected) - float(observed)) <= TOLERANCE
    if isinstance(expected, list) and isinstance(observed, list):
        return len(expected) == len(observed) and all(map(_equal, expected, observed))
    return bool(expected == observed)


def _exact(expected: Mapping[str, Any], observed: Mapping[str, Any], path: str) -> list[str]:
    """Differences by key, keys that nobody expected included."""
    lines: list[str] = []
    for key, value in expected.items():
        child = f"{path}.{key}" if path else str(key)
        lines += differences(value, observed[key], child) if key in observed else []
        lines += [] if key in observed else [f"{child}: expected {value}, found nothing"]
    for key in (key for key in observed if key not in expected):
        lines.append(f"{f'{path}.' if path else ''}{key}: expected nothing, found {observed[key]}")
    return lines


def _meets(matcher: str, bound: Any, observed: Any) -> bool:
    if observed is None:
        return False
    match matcher:
        case "atLeast":
            return isinstance(observed, Real) and float(observed) >= float(bound) - TOLERANCE
        case "atMost":
            return isinstance(observed, Real) and float(observed) <= float(bound) + TOLERANCE
        case "oneOf":
            return any(_equal(choice, observed) for choice in bound)
        case "matches":
            return isinstance(observed, str) and re.search(bound, observed) is not None
        case "exactly":
            return False  # a mapping was compared key by key
        case "contains":
            return isinstance(observed, list | str) and bound in observed
    raise ValueError(f"unknown matcher {matcher!r}")
