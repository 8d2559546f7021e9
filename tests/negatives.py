"""Which declared check has a live test that makes it fail: `python -m tests.negatives` prints the table.

A test says so by `@pytest.mark.negative(<check id>, …)`, and fails when a check it is marked with did not
(tests/acceptance/conftest.py). What cannot be provoked stands in tests/acceptance/not_provoked.yml.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import yaml

from validation import declared

FOLDER = Path(__file__).parent / "acceptance"
# Requirements of which every check must have a negative, or a reason.
COMPLETE = ("V1", "V2", "V3", "V4")


class _Marks:
    """Collects what the marks of a session's tests promise."""

    def __init__(self) -> None:
        self.promised: dict[str, list[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for mark in item.iter_markers("negative"):
                for check in mark.args:
                    self.promised.setdefault(check, []).append(item.nodeid)


def collected() -> dict[str, list[str]]:
    """Check id -> acceptance tests that make it fail. RuntimeError when they cannot be collected."""
    marks = _Marks()
    quiet = ["--collect-only", "-qq", "-p", "no:cacheprovider", "-o", "addopts=--strict-markers"]
    with redirect_stdout(sys.stderr):
        code = pytest.main([*quiet, str(FOLDER)], plugins=[marks])
    if code != pytest.ExitCode.OK:
        raise RuntimeError(f"tests in {FOLDER} cannot be collected (pytest ended with {code})")
    return marks.promised


def not_provoked() -> dict[str, str]:
    """Check id -> why no test of this bed makes it fail."""
    found: dict[str, str] = yaml.safe_load((FOLDER / "not_provoked.yml").read_text()) or {}
    return found


def table(promised: dict[str, list[str]], excused: dict[str, str]) -> list[dict[str, Any]]:
    """One row per declared check, in the order of the checks' table."""
    return [
        {
            "check": check.id,
            "requirement": declared.tests()[check.test].requirement,
            "tests": promised.get(check.id, []),
            "reason": excused.get(check.id, ""),
        }
        for check in declared.checks().values()
    ]


def main() -> int:
    """The table as text, or with --json for programs."""
    rows = table(collected(), not_provoked())
    if "--json" in sys.argv[1:]:
        print(json.dumps(rows))
        return 0
    for row in rows:
        tests = ", ".join(node.rpartition("::")[2] for node in row["tests"])
        print(f"{row['requirement']:4} {row['check']:34} {tests or row['reason'] or '-'}")
    without = sum(1 for row in rows if not row["tests"])
    print(f"{len(rows)} checks, {without} without a live negative test")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
