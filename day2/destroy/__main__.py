"""`python -m day2.destroy <stack>`: take an installation away, what it made and nothing else.

Exit code 0: nothing is left; 1: something is, or it was refused; the last lines say what and why.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from day2.destroy.options import agreed, options
from day2.destroy.run import Destroy, IncompleteError, RefusedError
from day2.destroy.workloads import StuckError
from day2.reach import reach
from day2.state import StateError, read
from validation.cluster import ClusterError

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    asked = options(arguments)
    start = time.monotonic()
    try:
        stack = read(asked.stack, ROOT)
        run = Destroy(asked, stack, reach(stack), ROOT, lambda text: print(text, flush=True))
        run.look()
        if not agreed(asked, stack.context):
            return 1
        run.alone()
    except (StateError, ClusterError, RefusedError) as error:
        print(f"destroy of stack {asked.stack}: {error}\nNothing was changed.", file=sys.stderr)
        return 1
    try:
        run.begin()
        run.pulumi()
        run.finish()
    except (ClusterError, StuckError, IncompleteError) as error:
        print(f"destroy of stack {asked.stack}: not complete: {error}", file=sys.stderr)
        return 1
    print(f"stack {asked.stack}: nothing of it is left in context {stack.context}; {_since(start)}")
    return 0


def _since(start: float) -> str:
    return f"{time.monotonic() - start:.0f} s"


if __name__ == "__main__":
    raise SystemExit(main())
