"""`python -m day2.backup save <stack>`, `python -m day2.backup restore <stack> <folder>`.

Exit code of save: 0 written, 1 not. Of restore: 0 everything is as in the backup, 1 not, 2 refused.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from components.runai.errors import ApiError
from day2.backup import document
from day2.backup.document import KINDS, BackupError, Document
from day2.backup.run import restore, save
from day2.backup.source import read
from day2.state import StateError
from validation.cluster import ClusterError
from validation.settings import OutputsError

ROOT = Path(__file__).resolve().parents[2]
REFUSED = 2
_ERRORS = (BackupError, ApiError, OutputsError, StateError, ClusterError, OSError)


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Command line; `root` is the project's folder."""
    asked = _options(arguments)
    try:
        return _save(asked, root) if asked.what == "save" else _restore(asked, root)
    except _ERRORS as error:
        what, code = ("backup", 1) if asked.what == "save" else ("restore", REFUSED)
        print(
            f"{what} of stack {asked.stack}: {error}\nNothing was {'kept' if code == 1 else 'changed'}.",
            file=sys.stderr,
        )
        return code


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m day2.backup", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    saving = commands.add_parser("save")
    saving.add_argument("stack")
    saving.add_argument("--no-database", action="store_true", help="its volume is saved in another way")
    restoring = commands.add_parser("restore")
    restoring.add_argument("stack")
    restoring.add_argument("folder", type=Path, help="what `make backup` wrote")
    restoring.add_argument("--any-version", action="store_true", help="also of another version")
    return parser.parse_args(arguments)


def _save(asked: argparse.Namespace, root: Path) -> int:
    folder, saved = save(read(asked.stack, root), root, not asked.no_database)
    print(f"{folder}: {_counts(saved)}")
    print(f"database: {saved.database.reason or f'{saved.database.file}, {saved.database.bytes} bytes'}")
    print(
        "keep it outside of this machine; the dump holds what the control plane knows, passwords' hashes too"
    )
    return 0


def _counts(saved: Document) -> str:
    counts = {kind: sum(item.kind == kind for item in saved.objects) for kind in KINDS}
    return ", ".join(f"{number} {kind}{'' if number == 1 else 's'}" for kind, number in counts.items())


def _restore(asked: argparse.Namespace, root: Path) -> int:
    saved = document.read(asked.folder)
    done = restore(read(asked.stack, root), saved, asked.any_version)
    for line in done.made:
        print(f"made: {line}")
    for line in (*done.left, *done.more):
        print(line)
    print(
        f"stack {asked.stack}: {len(done.made)} made, {len(done.left)} not as in the backup of "
        f"{saved.made:%F %R} UTC"
    )
    return 1 if done.left else 0


if __name__ == "__main__":
    raise SystemExit(main())
