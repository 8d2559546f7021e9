"""Fields that nobody stated: who put them there, from the object's managedFields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
Path = tuple[str, ...]
_ABSENT = object()


def added(expected: Json, found: Json) -> Iterator[tuple[Path, Any, str]]:
    """(path, value, manager) of fields that are set on the object and not stated.

    Status is nobody's to state, and neither is a field that is inside of a stated value.
    """
    for entry in found["metadata"].get("managedFields") or []:
        if entry.get("subresource") != "status":
            for path, value in _leaves(entry.get("fieldsV1") or {}, expected, found, ()):
                yield path, value, str(entry.get("manager", ""))


def _leaves(fields: Json, expected: Any, found: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if not path and "f:status" in fields:
        fields = {key: value for key, value in fields.items() if key != "f:status"}
    deeper = {key: value for key, value in fields.items() if key != "."}
    if not deeper:
        if path and expected is _ABSENT and found is not _ABSENT:
            yield path, found
        return
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
