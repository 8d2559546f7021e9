"""Who wrote which field of an object: the leaves of its managedFields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Path = tuple[str, ...]
_ABSENT = object()


@dataclass(frozen=True)
class Written:
    """A field with its value and its writer; `stated` says that what is compared with states it, too."""

    path: Path
    value: Any
    manager: str
    stated: bool


def written_fields(expected: Json, found: Json) -> list[Written]:
    """Every field that somebody wrote. Status is nobody's to state and left out."""
    return [
        Written(path, value, str(entry.get("manager", "")), stated)
        for entry in found["metadata"].get("managedFields") or []
        if entry.get("subresource") != "status"
        for path, value, stated in _leaves(_without_status(entry.get("fieldsV1") or {}), expected, found, ())
    ]


def writer(path: Path, fields: list[Written]) -> str:
    """Who wrote the field or something in it, empty if nobody did."""
    return next((item.manager for item in fields if _meet(item.path, path)), "")


def _meet(one: Path, other: Path) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _without_status(fields: Json) -> Json:
    return {key: value for key, value in fields.items() if key != "f:status"}


def _leaves(fields: Json, expected: Any, found: Any, path: Path) -> Iterator[tuple[Path, Any, bool]]:
    deeper = {key: value for key, value in fields.items() if key != "."}
    if not deeper and path:
        yield path, found, expected is not _ABSENT
    for key, value in deeper.items():
        name, one, other = _step(key, expected, found)
        if other is not _ABSENT:
            yield from _leaves(value, one, other, (*path, name))


def _step(key: str, expected: Any, found: Any) -> tuple[str, Any, Any]:
    """One step down: `f:name` is a field, `k:{…}` an item with these fields, `v:…` an item of that value."""
    kind, _, text = key.partition(":")
    if kind == "f":
        return text, _field(expected, text), _field(found, text)
    wanted = json.loads(text)
    if kind == "k":
        name = "/".join(str(part) for part in wanted.values())
        return f"[{name}]", _item(expected, wanted), _item(found, wanted)
    return f"[{text}]", _value(expected, wanted), _value(found, wanted)


def _field(value: Any, name: str) -> Any:
    return value.get(name, _ABSENT) if isinstance(value, dict) else _ABSENT


def _item(value: Any, wanted: Json) -> Any:
    for item in value if isinstance(value, list) else ():
        # A protocol that is not stated is TCP.
        if isinstance(item, dict) and all(
            item.get(key, "TCP" if key == "protocol" else None) == part for key, part in wanted.items()
        ):
            return item
    return _ABSENT


def _value(value: Any, wanted: Any) -> Any:
    return wanted if isinstance(value, list) and wanted in value else _ABSENT
