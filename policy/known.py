"""docs/full-profile.md: of every part, what is verified, documented or assumed, made from the catalog.

`python -m policy.known docs/full-profile.md [--check]`; with --check nothing is written: exit 1 when stale.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from components.catalog import Catalog, Part, load_catalog
from policy.page import PageError, put, settle, table

PARTS = "parts"
STANDINGS = ("verified", "documented", "assumed")
# A part without a word on it is one of those that the local stack runs: the catalog's tests see to that.
_RAN = "chart, values, Pod Security: it ran on the local cluster, its images built from packages"
_FAKE = "it pretends, and ran on the local cluster"
_WORDS = {"psa": "Pod Security"}


def known(catalog: Catalog) -> str:
    """A row for each part and version, a column for each standing."""
    rows = [
        [key, part.version, *(_cell(part, standing) for standing in STANDINGS)]
        for key, part in catalog.parts.items()
    ]
    return table(["Part", "Version", *(word.capitalize() for word in STANDINGS)], rows)


def _cell(part: Part, standing: str) -> str:
    if not part.evidence:
        return (_FAKE if part.provenance == "fake" else _RAN) if standing == "verified" else ""
    told = [
        f"{_WORDS.get(what, what)}: {' '.join(item.source.split())}"
        for what, item in part.evidence.items()
        if item.standing == standing
    ]
    return "<br>".join(told)


def main(arguments: list[str]) -> int:
    """Exit 0 written or fresh, 1 stale, 2 not made."""
    parser = argparse.ArgumentParser(
        prog="python -m policy.known", description="Table of docs/full-profile.md."
    )
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing, say whether the page is fresh")
    options = parser.parse_args(arguments)
    try:
        old = options.page.read_text(encoding="utf-8")
        new = put(old, PARTS, known(load_catalog()))
    except (OSError, PageError) as error:
        print(f"{options.page}: {error}", file=sys.stderr)
        return 2
    return settle(options.page, old, new, f"python -m policy.known {options.page}", check=options.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
