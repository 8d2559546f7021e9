"""Compares versions of parts as far as their numbers go."""

from __future__ import annotations

import re


def numbers(version: str) -> tuple[int, ...]:
    """`v26.7.1-rc.2` is (26, 7, 1): what follows the dotted numbers does not count."""
    match = re.match(r"v?([0-9]+(?:\.[0-9]+)*)", version)
    return tuple(int(part) for part in match.group(1).split(".")) if match else ()


def at_least(version: str, floor: str) -> bool:
    """Whether the version is the floor or later; missing digits are zeros."""
    one, other = numbers(version), numbers(floor)
    width = max(len(one), len(other))
    return one + (0,) * (width - len(one)) >= other + (0,) * (width - len(other))
