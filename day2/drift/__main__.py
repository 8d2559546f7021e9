"""`python -m day2.drift <stack>`: what differs from what the kit stated.

Exit code 0 no drift, 1 drift, 2 could not look.
"""

from __future__ import annotations

import sys
from pathlib import Path

from day2.drift.look import look
from day2.reach import reach
from day2.state import StateError, read
from validation.cluster import ClusterError

ROOT = Path(__file__).resolve().parents[2]
UNKNOWN = 2


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        print("usage: python -m day2.drift <stack>", file=sys.stderr)
        return UNKNOWN
    try:
        stack = read(given[0], ROOT)
        if stack.empty():
            print(
                f"stack {stack.name}: found nothing installed; expected a stack that is up; run `pulumi up`"
            )
            return UNKNOWN
        found = look(reach(stack), stack)
    except (StateError, ClusterError) as error:
        print(f"drift of stack {given[0]}: could not look: {error}", file=sys.stderr)
        return UNKNOWN
    print("\n".join(found.lines(stack.name)))
    return found.code()


if __name__ == "__main__":
    raise SystemExit(main())
