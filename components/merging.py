"""Lays a customer's values over the kit's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged(values: Mapping[str, Any], custom: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are merged key by key as Helm does; everything else of `custom` replaces what was there."""
    result = dict(values)
    for key, value in custom.items():
        below = result.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[key] = merged(below, value) if both else value  # type: ignore[arg-type]
    return result
