"""What a destroy is told, and the question that it asks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """`patience` in seconds: how long nothing may move; `workloads`: people's objects go, too."""

    stack: str
    purge: bool = False
    workloads: bool = False
    yes: bool = False
    patience: float = 150.0


def options(arguments: Sequence[str] | None = None) -> Options:
    """The command line's."""
    parser = argparse.ArgumentParser(prog="python -m day2.destroy", description=__doc__)
    parser.add_argument("stack")
    parser.add_argument("--purge", action="store_true", help="also delete the CRDs that the stack brought")
    parser.add_argument(
        "--workloads",
        action="store_true",
        help="also delete what people put into the kit's namespaces",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--patience", type=float, default=Options.patience, help="seconds that nothing may move"
    )
    given = parser.parse_args(arguments)
    return Options(given.stack, given.purge, given.workloads, given.yes, given.patience)


def agreed(asked: Options, context: str) -> bool:
    """Whether somebody wants it; the stack's name is the answer, so that it is meant."""
    if asked.yes:
        return True
    if not sys.stdin.isatty():
        print("destroy: nobody to ask; say YES=1 (--yes)", file=sys.stderr)
        return False
    what = " with its CRDs" if asked.purge else ""
    question = f"This removes stack {asked.stack}{what} from context {context}. Type its name: "
    return input(question).strip() == asked.stack
