"""Kubernetes quantities as numbers."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
}


def parse(value: str | int | float | None) -> float:
    """Number of a quantity in its base unit ("500m" -> 0.5, "2" -> 2.0, absent -> 0.0).

    Raises ValueError for anything that is no quantity.
    """
    if value is None or value == "":
        return 0.0
    text = str(value).strip()
    digits = text.rstrip("numkMGTi")
    try:
        return float(Decimal(digits) * _SUFFIXES[text[len(digits) :]])
    except (InvalidOperation, KeyError) as error:
        raise ValueError(f"not a Kubernetes quantity: {value!r}") from error


def tidy(value: float) -> int | float:
    """A number as people write it: 4.0 -> 4, 0.499999999 -> 0.5."""
    rounded = round(value, 4)
    return int(rounded) if rounded == int(rounded) else rounded
