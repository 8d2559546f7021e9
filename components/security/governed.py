"""Which namespaces are controlled, and what is known about each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from components.catalog import Catalog, NamespaceEntry, Psa
from components.config.model import Settings
from components.labels import LEVELS


@dataclass(frozen=True)
class Governed:
    """A namespace with controls.

    `accounts`: whose pods it is for, empty for anybody's; `webhooks`, `metrics`: TCP ports of its pods.
    """

    name: str
    psa: Psa
    why: str
    project: bool = False
    accounts: tuple[str, ...] = ()
    webhooks: tuple[int, ...] = ()
    metrics: tuple[int, ...] = ()

    @property
    def described(self) -> bool:
        """Whether it is known who runs there: what is not known cannot be closed without breaking it."""
        return self.project or bool(self.accounts)


def relaxed(catalog: Catalog, parts: Iterable[str]) -> list[Governed]:
    """Namespaces of these parts below `restricted`; where parts share one, the laxest level counts."""
    shared: dict[str, list[NamespaceEntry]] = {}
    for part in parts:
        for name, entry in catalog.parts[part].namespaces.items():
            shared.setdefault(name, []).append(entry)
    return [
        _merged(name, found) for name, found in shared.items() if any(e.psa != "restricted" for e in found)
    ]


def projects(settings: Settings, catalog: Catalog) -> list[Governed]:
    """The projects' namespaces."""
    entry = catalog.project_namespace
    return [
        Governed(f"{entry.prefix}{project.name}", entry.psa, entry.why, project=True)
        for _, project in settings.projects()
    ]


def _merged(name: str, entries: list[NamespaceEntry]) -> Governed:
    def union(field: str) -> tuple[str | int, ...]:
        return tuple(dict.fromkeys(item for entry in entries for item in getattr(entry, field)))

    # One part that names nobody leaves the namespace open to anybody.
    named = all(entry.accounts for entry in entries)
    return Governed(
        name,
        max((entry.psa for entry in entries), key=LEVELS.index),
        "; ".join(dict.fromkeys(entry.why for entry in entries if entry.why)),
        accounts=tuple(map(str, union("accounts"))) if named else (),
        webhooks=tuple(map(int, union("webhooks"))),
        metrics=tuple(map(int, union("metrics"))),
    )
