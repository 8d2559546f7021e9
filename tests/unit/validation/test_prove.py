"""What `make validate` says: only this run's report counts, and a failed playbook is never a pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from validation import prove

pytestmark = pytest.mark.req("V12")
PASSED = {
    "environment": "here",
    "started": "2026-01-01T00:00:00Z",
    "finished": "2026-01-01T00:01:00Z",
    "components": [],
    "checks": [
        {
            "id": "a.b",
            "requirement": "V1",
            "title": "t",
            "proof": "live",
            "verdict": "pass",
            "seconds": 1,
            "expected": 1,
            "observed": 1,
            "evidence": [],
        }
    ],
    "summary": {"pass": 1, "fail": 0, "skip": 0, "na": 0},
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose ansible-playbook is a script of the test's."""
    (tmp_path / "inventory" / "here").mkdir(parents=True)
    (tmp_path / "build" / "report").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    monkeypatch.delenv("KIT_REPORT_DIR", raising=False)
    # What the run sets goes with the test.
    monkeypatch.setenv("KIT_AGAINST", "")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path


def playbook(project: Path, script: str) -> None:
    file = project / "bin" / "ansible-playbook"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_a_run_that_wrote_a_good_report_passes(project: Path) -> None:
    (project / "good.json").write_text(json.dumps(PASSED))
    playbook(project, "cp good.json build/report/report.json")
    code, text = prove.prove("here", project)
    assert (code, text.splitlines()[0][:4]) == (0, "PASS")


def test_the_report_of_an_earlier_run_is_no_proof(project: Path) -> None:
    (project / "build" / "report" / "report.json").write_text(json.dumps(PASSED))
    playbook(project, "exit 4")
    code, text = prove.prove("here", project)
    assert code == 1
    assert "no report" in text


def test_a_failed_playbook_is_never_a_pass(project: Path) -> None:
    (project / "good.json").write_text(json.dumps(PASSED))
    playbook(project, "cp good.json build/report/report.json; exit 2")
    code, text = prove.prove("here", project)
    assert code == 1
    assert "ended with status 2" in text


def test_what_changed_is_told_and_no_verdict(project: Path) -> None:
    earlier = project / "build" / "report" / "report.json"
    check = {**PASSED["checks"][0], "observed": 3}  # type: ignore[index]
    earlier.write_text(json.dumps(PASSED))
    told = {
        "started": "2026-01-01T00:00:00Z",
        "verdict": "PASS",
        "sha256": "ab" * 32,
        "warnings": ["another cluster"],
    }
    change = {"kind": "observed", "what": "a.b", "before": "1", "now": "3"}
    now: dict[str, Any] = dict(PASSED)
    now |= {"checks": [check], "against": {**told, "changes": [change]}}
    (project / "good.json").write_text(json.dumps(now))
    playbook(project, 'echo "$KIT_AGAINST" > asked; cp good.json build/report/report.json')
    code, text = prove.prove("here", project, against=earlier)
    assert code == 0
    assert "1 change" in text
    assert "WARNING  another cluster" in text
    assert "a.b: 1 -> 3" in text
    assert (project / "asked").read_text().strip() == str(earlier.with_name(prove.EARLIER))
    # The file that was named is the one that this run replaced.
    assert json.loads(earlier.with_name(prove.EARLIER).read_text()) == PASSED


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        ("no json", "found no report"),
        ("[]", "not a report of this kit"),
        ('{"environment": "x"}', "not a report of this kit"),
        (json.dumps({**PASSED, "summary": {"pass": 9}}), "does not count the checks"),
    ],
)
def test_a_bad_earlier_report_is_one_line_before_anything_runs(
    project: Path, content: str | None, said: str
) -> None:
    report = project / "build" / "report" / "report.json"
    report.write_text(json.dumps(PASSED))
    earlier = project / "earlier-report.json"
    if content is not None:
        earlier.write_text(content)
    playbook(project, "touch ran")
    code, text = prove.prove("here", project, against=earlier)
    assert code == 1
    assert said in text
    assert str(earlier) in text
    assert "nothing was run" in text
    assert "\n" not in text
    assert not (project / "ran").exists()
    assert report.exists(), "the last report is still there"


def test_an_unknown_environment_is_one_line_and_touches_nothing(project: Path) -> None:
    report = project / "build" / "report" / "report.json"
    report.write_text(json.dumps(PASSED))
    code, text = prove.prove("nosuch", project)
    assert code == 1
    assert "found 'nosuch', expected one of here" in text
    assert report.exists()
