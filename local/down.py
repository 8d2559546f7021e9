"""`make down`: remove the cluster with its containers and volumes, and the local stack's state."""

from __future__ import annotations

import shutil
import sys

from local import paths, shell
from local.cluster import create


def main() -> int:
    """Remove what `make demo` started; caches outside the checkout stay."""
    try:
        create.remove()
    except shell.CommandError as error:
        print(f"make down: cluster {paths.CLUSTER} could not be removed: {error}", file=sys.stderr)
        return 1
    shutil.rmtree(paths.STATE, ignore_errors=True)
    state = paths.STATE.relative_to(paths.ROOT)
    print(f"removed: cluster {paths.CLUSTER}, its containers and volumes, and {state}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
