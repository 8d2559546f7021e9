"""The table of what others write into the kit's objects and namespaces."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    kinds: tuple[str, ...]

    def of(self, kind: str) -> bool:
        """Whether the row is about this kind."""
        return any(fnmatchcase(kind, pattern) for pattern in self.kinds)


class FieldRow(_Row):
    """A field that somebody else writes, and why that is right."""

    path: str
    manager: str
    why: str


class ObjectRow(_Row):
    """An object that somebody else makes."""

    name: str
    owner: str


class Owned(BaseModel):
    """The whole table."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    fields: tuple[FieldRow, ...]
    objects: tuple[ObjectRow, ...]

    def field(self, kind: str, path: str, manager: str) -> FieldRow | None:
        """The row that says why the manager may write the field, if there is one."""
        return next(
            (
                row
                for row in self.fields
                if row.of(kind) and fnmatchcase(path, row.path) and fnmatchcase(manager, row.manager)
            ),
            None,
        )

    def object(self, kind: str, name: str) -> ObjectRow | None:
        """The row that says whose the object is, if there is one."""
        return next((row for row in self.objects if row.of(kind) and fnmatchcase(name, row.name)), None)


@cache
def owned() -> Owned:
    """The table beside this file. Raises pydantic.ValidationError for a wrong one."""
    return Owned.model_validate(yaml.safe_load(Path(__file__).with_name("owned.yml").read_text("utf-8")))
