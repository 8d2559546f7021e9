"""Both directions: every check of V1 to V4 has a live test that makes it fail, or a reason why not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.negatives import COMPLETE, not_provoked, table
from validation import declared

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.req("V12")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """The table, from the marks of the acceptance tests; collected in a process of its own."""
    command = [sys.executable, "-m", "tests.negatives", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_every_check_of_the_first_four_has_a_negative_or_a_reason(rows: list[dict[str, Any]]) -> None:
    mine = [row for row in rows if row["requirement"] in COMPLETE]
    assert {row["requirement"] for row in mine} == set(COMPLETE)
    assert [row["check"] for row in mine if not row["tests"] and not row["reason"]] == []


def test_what_is_excused_is_declared_and_not_provoked_all_the_same(rows: list[dict[str, Any]]) -> None:
    excused = not_provoked()
    assert set(excused) <= set(declared.checks())
    assert [row["check"] for row in rows if row["tests"] and row["check"] in excused] == []


def test_marks_name_declared_checks(rows: list[dict[str, Any]]) -> None:
    assert {row["check"] for row in rows} == set(declared.checks())
    assert any(row["tests"] for row in rows)


def test_a_check_without_a_negative_would_be_seen() -> None:
    (row,) = [row for row in table({}, {}) if row["check"] == "over_quota.limit"]
    assert (row["tests"], row["reason"], row["requirement"]) == ([], "", "V3")
