"""The file of a backup: what the control plane knows, by names instead of ids, without a secret."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from components.full.saved import FORMAT, NAME
from components.runai.client import Json

Kind = Literal["node pool", "department", "project", "service account", "access rule"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class BackupError(Exception):
    """A backup cannot be made or used; the text says what was found, what was expected, and what to do."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Key(_Model):
    """Which object: `cluster` is a name, empty for what belongs to no cluster."""

    kind: Kind
    cluster: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.cluster}/{self.name}" if self.cluster else f"{self.kind} {self.name}"


class Saved(Key):
    """An object with the fields that a request to make it takes; other objects stand there by name."""

    fields: dict[str, Any]

    def key(self) -> Key:
        """Which object it is."""
        return Key(kind=self.kind, cluster=self.cluster, name=self.name)


class Plane(_Model):
    """The control plane that was asked."""

    url: str
    version: str


class Database(_Model):
    """The dump beside this file; without one, `reason` says whose matter the database is."""

    file: str = ""
    bytes: int = 0
    sha256: str = ""
    reason: str = ""


class Document(_Model):
    """A whole backup."""

    format: int
    made: datetime
    stack: str
    controlPlane: Plane  # noqa: N815 (as in the stack file)
    clusters: list[str]
    objects: list[Saved]
    database: Database

    def tree(self) -> dict[Key, Json]:
        """Fields of every object."""
        return {item.key(): item.fields for item in self.objects}


def write(document: Document, folder: Path) -> Path:
    """The document's file in `folder`."""
    path = folder / NAME
    text = yaml.safe_dump(document.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path) -> Document:
    """The document of a backup's folder, or of the file itself. Raises BackupError."""
    path = folder / NAME if folder.is_dir() else folder
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())
        raise BackupError(
            f"{path}: found no readable backup ({why}); expected the {NAME} that `make backup` wrote; "
            "name its folder by FROM="
        ) from None
    found = data.get("format") if isinstance(data, dict) else None
    if found != FORMAT:
        raise BackupError(
            f"{path}: found format {found}; expected {FORMAT}; restore it with the version of the kit that "
            "wrote it"
        )
    try:
        return Document.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BackupError(
            f"{path}: found {where}: {first['msg']}; expected what `make backup` wrote; "
            "take a file that was not edited"
        ) from None
