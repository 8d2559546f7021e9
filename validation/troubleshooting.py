"""docs/troubleshooting.md: symptom, cause, what to do; made from checks.yml and known_failures.yml.

`python -m validation.troubleshooting docs/troubleshooting.md [--check]`

With --check nothing is written: exit 1 when stale.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from validation import declared
from validation.files import write_atomically
from validation.known_failures import Failure, KnownFailuresError, failures

_HOW = {
    "live": "made on a cluster",
    "replay": "by replay",
    "documented": "documented only",
}
_HEAD = """# Troubleshooting

Made by `python -m validation.troubleshooting docs/troubleshooting.md` from `validation/checks.yml` and
`validation/known_failures.yml`; change those.

1. `make validate ENV=<stack>` looks for everything below before it starts a workload; only that:
   `ansible-playbook -i inventory/<stack> validation/preflight.yml`. A failed check says what it found, what
   it expected and why; find its name in the second table. In the profile full three checks ask the control
   plane: set `KIT_RUNAI_CLIENT_ID` and `KIT_RUNAI_CLIENT_SECRET` to a service account of it.
2. No name of a check yet, only a symptom: search the first table.
3. `make bundle ENV=<stack>` packs what support needs, without secrets. After a killed `pulumi up`:
   `make heal ENV=<stack>`.

## By symptom: what users of Run:ai ran into

- *made on a cluster*: a live cluster decides it; `python -m tests.negatives` says which acceptance test makes
  this fault, or that none does yet.
- *by replay*: a captured text or state, or an answer of the control plane's double, is judged by the same
  code.
- *documented only*: nothing of the kit can see it.

"""
_CHECKS = """
## By check: what preflight asks

**stops the tests**: while it fails, no test is started.

"""


def page() -> str:
    """The whole page. Raises KnownFailuresError."""
    rows = [_failure(failure) for failure in failures()]
    known = _table(["No.", "Symptom", "Cause", "What to do", "Seen by"], rows)
    guard = declared.tests()[declared.GUARD]
    checks = _table(
        ["Check", "What must hold", "What to do when it fails"], [_check(c) for c in guard.checks]
    )
    return _HEAD + known + _CHECKS + checks


def _failure(failure: Failure) -> list[str]:
    seen = [f"`{check}`" for check in failure.checks]
    seen += [f"`{test.rpartition('::')[2]}`" for test in failure.tests]
    told = "<br>".join([*seen, f"*{_HOW[failure.shown]}*", failure.source])
    return [str(failure.number), failure.symptom, failure.cause, "<br>".join(failure.advice()), told]


def _check(check: declared.Check) -> list[str]:
    only = [f"only {path} {value}" for path, value in check.only]
    marks = [*only, *(["**stops the tests**"] if check.blocking else [])]
    return [f"`{check.id}`", "<br>".join([check.title, *marks]), check.todo]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main(arguments: list[str]) -> int:
    """Exit 0 written or fresh, 1 stale, 2 not made."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.troubleshooting", description="Make docs/troubleshooting.md."
    )
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing, say whether the page is fresh")
    options = parser.parse_args(arguments)
    try:
        new = page()
        if not options.check:
            write_atomically(options.page, new)
            return 0
        old = options.page.read_text(encoding="utf-8")
    except (OSError, KnownFailuresError) as error:
        print(f"{options.page}: {error}", file=sys.stderr)
        return 2
    if old != new:
        print(f"{options.page} is stale: run python -m validation.troubleshooting {options.page}")
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
