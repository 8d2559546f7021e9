"""The rule on every version setting: the catalog has to know it."""

from __future__ import annotations

from collections.abc import Iterator

from components.catalog import Catalog
from components.config.errors import Problem


def unlisted(catalog: Catalog, part: str, key: str, version: str, more: str = "") -> Iterator[Problem]:
    """The problem of setting `key` when no generation of `part` has this version; `more` ends the advice."""
    known = sorted(catalog.generations(part))
    if version not in known:
        yield Problem(
            key,
            f'"{version}"',
            f"one of {', '.join(known)}",
            f"choose a version from components/catalog.yaml{more}",
        )
