"""Expected beside observed, row by row, for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from validation.compare import differences

# How a matcher of compare.py reads.
MATCHERS = {
    "atLeast": "at least {}",
    "atMost": "at most {}",
    "oneOf": "one of {}",
    "matches": "text that matches {}",
    "contains": "contains {}",
    "exactly": "exactly\n{}",
}
NOTHING = "–"


@dataclass(frozen=True)
class Row:
    """A key with both sides as text; `differs` when the observation does not meet the expectation."""

    key: str
    expected: str
    observed: str
    differs: bool


def rows(expected: Any, observed: Any, judged: bool = True) -> list[Row]:
    """One row per key of either side; what was only observed comes last. Without keys, one row.

    `judged`: whether a difference counts (a check that is n/a shows what was there, and no fault).
    """
    if expected is None and observed is None:
        return []
    if not isinstance(expected, Mapping) or not isinstance(observed, Mapping) or _matcher(expected):
        return [Row("value", text(expected), text(observed), judged and _differs(expected, observed))]
    keys = [*expected, *(key for key in observed if key not in expected)]
    return [
        Row(
            str(key),
            text(expected[key]) if key in expected else NOTHING,
            text(observed[key]) if key in observed else "not observed",
            judged and key in expected and (key not in observed or _differs(expected[key], observed[key])),
        )
        for key in keys
    ]


def _differs(expected: Any, observed: Any) -> bool:
    return expected is not None and bool(differences(expected, observed))


def _matcher(value: Any) -> str:
    if isinstance(value, Mapping) and len(value) == 1:
        (key,) = value
        return key if key in MATCHERS else ""
    return ""


def text(value: Any) -> str:
    """A value in words: matchers spelled out, mappings one key per line, lists joined."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name := _matcher(value):
        return MATCHERS[name].format(text(value[name]))
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_inline(item)}" for key, item in value.items()) or "nothing"
    if isinstance(value, list):
        return _list(value)
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value) or '""'


def _list(value: list[Any]) -> str:
    plain = [_inline(item) for item in value]
    return ("\n" if sum(map(len, plain)) > 60 else ", ").join(plain) or "none"


def _inline(value: Any) -> str:
    if isinstance(value, Mapping) and not _matcher(value):
        return json.dumps(value, ensure_ascii=False) if value else "nothing"
    if isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        return json.dumps(value, ensure_ascii=False)
    return text(value)
