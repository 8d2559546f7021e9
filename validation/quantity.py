"""Kubernetes quantities as numbers."""

from __future__ import annotations

from typing import Any

from kubernetes.utils import quantity as _quantity

# The client's stubs leave it untyped.
_parse: Any = _quantity.parse_quantity


def parse(value: str | int | float | None) -> float:
    """Number of a quantity in its base unit ("500m" -> 0.5, "2Ki" -> 2048.0, absent -> 0.0).

    Raises ValueError for anything that is no quantity.
    """
    if value is None or value == "":
        return 0.0
    try:
        return float(_parse(str(value).strip()))
    except ValueError as error:
        raise ValueError(f"not a Kubernetes quantity: {value!r}") from error


def tidy(value: float) -> int | float:
    """A number as people write it: 4.0 -> 4, 0.499999999 -> 0.5."""
    rounded = round(value, 4)
    return int(rounded) if rounded == int(rounded) else rounded
