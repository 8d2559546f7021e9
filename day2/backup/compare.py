"""What a backup has and the control plane lacks, or has otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.runai.client import Json
from day2.backup.document import Key


@dataclass(frozen=True)
class Findings:
    """`missing` in the order in which they can be made; `different` and `more` are lines for people."""

    missing: tuple[Key, ...]
    different: tuple[str, ...]
    more: tuple[str, ...]


def compare(saved: Mapping[Key, Json], live: Mapping[Key, Json]) -> Findings:
    """Nothing here changes anything."""
    return Findings(
        tuple(key for key in saved if key not in live),
        tuple(line for key in saved if key in live for line in _fields(key, saved[key], live[key])),
        tuple(f"{key}: is not in the backup; left alone" for key in live if key not in saved),
    )


def _fields(key: Key, saved: Json, live: Json) -> Iterator[str]:
    for path, was, now in differences(saved, live):
        yield f"{key}: {path}: found {_shown(now)}; the backup has {_shown(was)}; left as it is"


def differences(saved: Any, live: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Path, saved and live value of every leaf that differs; None stands for a field that is not there."""
    if isinstance(saved, dict) and isinstance(live, dict):
        for name in dict.fromkeys((*saved, *live)):
            below = f"{path}.{name}" if path else str(name)
            yield from differences(saved.get(name), live.get(name), below)
    elif saved != live:
        yield path, saved, live


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)
