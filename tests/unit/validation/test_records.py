"""Records, judgement, gate and report: fail closed at every step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from validation import declared, support_table, verdict, wording
from validation.gate import decide
from validation.judge import close, judge
from validation.records import Records, write_atomically
from validation.report.model import ReportError, load
from validation.report.writer import write

pytestmark = pytest.mark.req("V12")
CHECK = "fractional_gpu.uuid"
NA = "preflight.ingress_class"


@pytest.fixture
def records(tmp_path: Path) -> Records:
    made = Records(tmp_path / "report")
    made.start(
        {
            "environment": "local",
            "tests": list(declared.tests()),
            "components": [
                {"name": "kai-scheduler", "version": "0.12.0", "provenance": "built-from-packages"}
            ],
            "fakeGpus": True,
        }
    )
    return made


def everything(records: Records, state: str = "pass") -> None:
    for check in declared.checks().values():
        records.record(check.id, state, 1.0, {"a": 1}, {"a": 1}, "" if state == "pass" else "because")


def test_every_check_is_declared_with_what_to_do() -> None:
    for check in declared.checks().values():
        assert check.todo, check.id
        assert check.title, check.id
        assert check.id.startswith(f"{check.test}.")
        assert check.proof in ("live", "contract")


def test_an_undeclared_check_cannot_be_recorded(records: Records) -> None:
    with pytest.raises(KeyError, match=r"not declared in validation/checks\.yml"):
        records.record("reclaim.invented", "pass", 0, 1, 1)
    with pytest.raises(ValueError, match="none of pass"):
        records.record(CHECK, "good", 0, 1, 1)


@pytest.mark.parametrize(
    ("expected", "observed", "word"),
    [
        ({"distinct": 1}, {"distinct": 1}, "pass"),
        ({"distinct": 1}, {"distinct": 2}, "fail"),
        ({"distinct": 1}, None, "fail"),
        (None, {"distinct": 1}, "fail"),
        ({"distinct": 1}, {"distinct": 1, "error": "API gone"}, "fail"),
        ({"distinct": 1}, {"distinct": 1, "skipped": "kept on request"}, "skip"),
    ],
)
def test_verdicts(records: Records, expected: Any, observed: Any, word: str) -> None:
    sides = [{} if side is None else {CHECK: side} for side in (expected, observed)]
    (entry,) = judge(records, sides[0], sides[1], {})
    assert entry["verdict"] == word
    assert (entry["reason"] == "") is (word == "pass")
    assert json.loads((records.checks / f"{CHECK}.json").read_text()) == entry


@pytest.mark.parametrize(
    ("declared_na", "applicable", "word"),
    [(True, False, "na"), (True, True, "fail"), (False, False, "fail"), (False, True, "pass")],
)
def test_not_applicable_has_to_be_true(
    records: Records, declared_na: bool, applicable: bool, word: str
) -> None:
    reasons = {NA: "no ingress here"} if declared_na else {}
    (entry,) = judge(records, {NA: {"defaults": 1}}, {NA: {"defaults": 1}}, reasons, {NA: applicable})
    assert entry["verdict"] == word


def test_a_crashed_role_fails_what_it_did_not_record(records: Records) -> None:
    judge(records, {CHECK: 1}, {CHECK: 1}, {})
    closed = close(records, "fractional_gpu", "fail", "did not run: boom")
    assert CHECK not in {e["id"] for e in closed}
    assert all(e["verdict"] == "fail" for e in closed)
    assert records.missing("fractional_gpu") == []


def test_a_check_about_another_kind_of_stack_is_na_whatever_happened(records: Records) -> None:
    other = {"fractional_gpu.control_plane": "it is about driver runai"}
    closed = {e["id"]: e for e in close(records, "fractional_gpu", "fail", "did not run: boom", other)}
    assert {e["verdict"] for name, e in closed.items() if name not in other} == {"fail"}
    mine = closed["fractional_gpu.control_plane"]
    assert (mine["verdict"], mine["reason"]) == ("na", "it is about driver runai")


def test_the_gate_opens_only_after_a_clean_preflight(records: Records) -> None:
    test = declared.tests()["reclaim"]
    assert decide(declared.tests()["preflight"], {}, {}, {}).run
    assert decide(test, {}, {}, {}).verdict == "skip"
    everything(records)
    assert decide(test, records.recorded(), {}, {}).run
    records.record("preflight.foreign_queues", "fail", 0, [], ["other"], "others' queues")
    refused = decide(test, records.recorded(), {}, {})
    assert (refused.run, refused.verdict) == (False, "skip")
    assert "others' queues" in refused.reason
    # A fault that tests can live with is no reason to refuse: V3 itself must show a wrong queue.
    records.record("preflight.foreign_queues", "pass", 0, [], [])
    records.record("preflight.queues", "fail", 0, 1, 2, "limit")
    assert decide(test, records.recorded(), {}, {}).run


def test_a_declared_na_of_a_test_that_could_run_fails(records: Records) -> None:
    test = declared.tests()["fractional_gpu"]
    reasons = {"V2": "no sharing"}
    assert decide(test, {}, reasons, {"gpuSharing": False, "freeGpus": 4}).verdict == "na"
    assert decide(test, {}, reasons, {"gpuSharing": True, "freeGpus": 4}).verdict == "fail"
    assert decide(test, {}, reasons, {}).verdict == "fail"


def test_what_was_not_recorded_did_not_run(records: Records, tmp_path: Path) -> None:
    everything(records)
    (records.checks / f"{CHECK}.json").unlink()
    report = write(records, tmp_path, {}).report
    (failed,) = [c for c in report.checks if c.verdict == "fail"]
    assert failed.id == CHECK
    assert failed.reason.startswith("did not run")
    assert report.exit_code == 1


def test_a_test_that_was_not_chosen_is_skipped(records: Records, tmp_path: Path) -> None:
    everything(records)
    run = {**records.run(), "tests": ["preflight", "fractional_gpu"]}
    write_atomically(records.root / "run.json", json.dumps(run))
    for path in records.checks.glob("reclaim.*"):
        path.unlink()
    report = write(records, tmp_path, {}).report
    assert report.exit_code == 2
    assert {c.test for c in report.checks if c.verdict == "skip"} == {"reclaim"}


@pytest.mark.parametrize(
    ("tags", "skip", "chosen"),
    [
        (["all"], [], None),
        (["V2"], [], {"fractional_gpu"}),
        (["reclaim"], [], {"reclaim"}),
        (["V1"], [], set()),
    ],
)
def test_tags_choose_tests(tags: list[str], skip: list[str], chosen: set[str] | None) -> None:
    wanted = set(declared.tests()) if chosen is None else chosen | {declared.GUARD}
    assert set(declared.chosen(tags, skip)) == wanted


def test_a_skipped_tag_leaves_a_test_out() -> None:
    assert set(declared.tests()) - set(declared.chosen(["all"], ["V3"])) == {"over_quota"}


def test_three_files_and_no_change_the_second_time(records: Records, tmp_path: Path) -> None:
    everything(records)
    records.record(CHECK, "fail", 2.0, {"distinct": 1}, {"distinct": 2, "x": "<b>&"}, "distinct: 2")
    records.record(NA, "na", 0, None, None, "no ingress")
    first, second = write(records, tmp_path, {}), write(records, tmp_path, {})
    assert (first.changed, second.changed) == (True, False)
    data = json.loads((records.root / "report.json").read_text())
    assert set(data) >= {"environment", "started", "finished", "components", "checks", "summary"}
    assert data["summary"]["fail"] == 1
    assert load(data).summary == first.report.summary
    suites = {suite.name: suite for suite in JUnitXml.fromfile(str(records.root / "junit.xml"))}
    assert suites["fractional_gpu"].failures == 1
    assert suites["preflight"].skipped == 1
    page = (records.root / "index.html").read_text()
    assert "&lt;b&gt;&amp;" in page
    assert "<b>&" not in page
    assert "The GPUs are fake" in page
    for outside in ("http://", "https://", "<script src", "<link"):
        assert outside not in page.replace("http://www.w3.org", "")


def test_the_chart_shows_queues_that_held_gpus(records: Records, tmp_path: Path) -> None:
    everything(records)
    lines = [{"kind": "sample", "t": 100.0 + n, "gpus": {"team-a": min(n, 4), "idle": 0}} for n in range(10)]
    (records.root / "timeline.jsonl").write_text("\n".join(map(json.dumps, lines)))
    write(records, tmp_path, {})
    page = (records.root / "index.html").read_text()
    assert "<svg" in page
    assert "team-a" in page
    assert ">idle<" not in page


@pytest.mark.parametrize(("state", "code"), [("pass", 0), ("fail", 1), ("skip", 2), ("na", 1)])
def test_exit_codes(records: Records, tmp_path: Path, state: str, code: int) -> None:
    everything(records)
    records.record(CHECK, state, 0, 1, 1, "because")
    if state == "na":
        # Nothing passed at all: that is no pass.
        everything(records, "na")
    write(records, tmp_path, {})
    assert verdict.main([str(records.root / "report.json")]) == code


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"environment": "x"}'])
def test_no_report_is_a_fail(tmp_path: Path, text: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    if text is not None:
        path.write_text(text)
    assert verdict.main([str(path)]) == 1
    assert "FAIL" in capsys.readouterr().out


def test_a_report_that_contradicts_itself_is_refused(records: Records, tmp_path: Path) -> None:
    everything(records)
    data = write(records, tmp_path, {}).report.as_dict()
    data["checks"][0]["verdict"] = "fail"
    with pytest.raises(ReportError, match="does not count the checks"):
        load(data)
    data["checks"][0]["verdict"] = "fine"
    with pytest.raises(ReportError, match="'fine'"):
        load(data)


def test_every_declared_requirement_is_explained_to_readers() -> None:
    assert {check.requirement for check in declared.checks().values()} <= set(wording.wording())


def test_the_support_table_goes_between_its_markers(records: Records, tmp_path: Path) -> None:
    everything(records)
    records.record(CHECK, "fail", 0, 1, 2, "differs")
    write(records, tmp_path, {})
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{support_table.BEGIN}\nold\n{support_table.END}\nafter\n")
    report = str(records.root / "report.json")
    assert support_table.main([report, str(readme)]) == 0
    text = readme.read_text()
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    words = wording.wording()
    assert f"| V2 | {words['V2']} | 6 |  |  | fail |" in text
    assert f"| V4 | {words['V4']} | 7 |  |  | pass |" in text
    with pytest.raises(ValueError, match="markers"):
        support_table.put("no markers", "x")


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    write_atomically(path, "old")

    def killed(_source: str, _target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("validation.files.os.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
