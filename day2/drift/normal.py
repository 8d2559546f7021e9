"""When two values are the same to the API server."""

from __future__ import annotations

from typing import Any

from validation import quantity

# Below these fields, texts and numbers are quantities: 1000m is 1, 0.5Gi is 512Mi.
_QUANTITIES = frozenset({"requests", "limits", "sizeLimit", "hard", "capacity", "storage"})


def nothing(value: Any) -> bool:
    """Empty and absent are one: the server drops what is empty."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def same(expected: Any, found: Any, path: tuple[str, ...]) -> bool:
    """Whether two values that are neither maps nor lists of maps say the same."""
    if nothing(expected) and nothing(found):
        return True
    comparable = type(expected) is type(found) or {type(expected), type(found)} == {int, float}
    if comparable and expected == found:
        return True
    if _QUANTITIES.isdisjoint(path):
        return False
    try:
        return quantity.parse(expected) == quantity.parse(found)
    except ValueError:
        return False
