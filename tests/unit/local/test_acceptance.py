"""Two suites of acceptance tests: which cluster each gets, what is told, when the whole has failed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local import acceptance, paths
from local.acceptance import Suite, suites

pytestmark = pytest.mark.req("I14")
RESULTS = """<testsuites><testsuite>
<testcase classname="tests.acceptance.test_front" name="a" time="2.5"/>
<testcase classname="tests.acceptance.test_front" name="b" time="1"><failure message="no"/></testcase>
<testcase classname="tests.acceptance.test_mnist" name="c" time="200"><skipped/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, str]]:
    """(suite, step) in the order in which they were run."""
    ran: list[tuple[str, str]] = []

    def step(suite: Suite, what: str, *_: str) -> bool:
        ran.append((suite.name, what))
        if what == "tests":
            suite.results.write_text(RESULTS)
        return True

    monkeypatch.setattr(acceptance, "RESULTS", tmp_path / "acceptance")
    monkeypatch.setattr(Suite, "_step", step)
    return ran


def test_only_scratch_makes_and_removes_a_cluster_and_it_is_another_one(steps: list[tuple[str, str]]) -> None:
    assert acceptance.main(["all"]) == 0
    assert [what for name, what in steps if name == "main"] == ["tests"]
    assert [what for name, what in steps if name == "scratch"] == ["cluster", "tests", "removal"]
    main, scratch = suites("all")
    assert main.cluster == paths.CLUSTER != scratch.cluster


def test_every_part_is_told_with_its_seconds(
    steps: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    acceptance.main(["main"])
    told = capsys.readouterr().out
    assert re.search(r"main +front +2 +1 +0 +4\b", told)
    assert re.search(r"main +mnist +1 +0 +1 +200\b", told)
    assert "scratch" not in told


def test_a_cluster_that_was_not_made_fails_the_whole_and_is_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With real commands: a program that fails in place of each."""
    monkeypatch.setattr(acceptance, "RESULTS", tmp_path)
    monkeypatch.setattr("sys.executable", "/bin/false")
    suite = Suite("scratch", "scratch", "other", own=True)
    suite.run([])
    assert suite.problems == ["cluster ended with 1", "removal ended with 1"]
    assert suite.parts() == []
