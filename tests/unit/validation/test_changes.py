"""What changed between two reports: the right things are told, a run's own names and times are not."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validation.report import changes, noise
from validation.report.model import ReportError, load

pytestmark = pytest.mark.req("V12")
Json = dict[str, Any]
BASE: Json = {
    "environment": "here",
    "started": "2026-01-01T00:00:00Z",
    "finished": "2026-01-01T00:01:00Z",
    "fakeGpus": True,
    "installation": {
        "cluster": {"uid": "aaaa", "kubernetes": "1.34.9", "gpuNodes": {"n1": {"gpus": 4}}},
        "images": {"cuda": "r/cuda:1"},
        "settings": {"projects": [{"name": "team-a", "gpu": {"deserved": 2}}, {"name": "team-b"}]},
    },
    "components": [{"name": "kai-scheduler", "version": "0.12.0", "provenance": "upstream"}],
    "checks": [],
    "summary": {"pass": 2, "fail": 0, "skip": 0, "na": 0},
}
CHECK: Json = {
    "requirement": "V1",
    "title": "t",
    "proof": "live",
    "verdict": "pass",
    "seconds": 1.0,
    "expected": {"gpus": 4, "token": "kit20261130"},
    "observed": {
        "gpus": 4,
        "token": "kit20261130",
        "seconds": 1.1,
        "extra": 5,
        "pods": {"train-x7k2p": "Running"},
    },
    "evidence": [],
}
BASE["checks"] = [{**copy.deepcopy(CHECK), "id": name} for name in ("a.one", "a.two")]


def told(change: Any = None, **values: Any) -> Json:
    """What is told when `change` was made to a copy of the report."""
    now = copy.deepcopy(BASE)
    now.update(values)
    if change:
        change(now)
    counts = dict.fromkeys(("pass", "fail", "skip", "na"), 0)
    for check in now["checks"]:
        counts[check["verdict"]] += 1
    now["summary"] = counts
    return changes.against(load(BASE), "ab" * 32, load(now))


def found(told: Json) -> list[tuple[str, str, str, str]]:
    return [(c["kind"], c["what"], c["before"], c["now"]) for c in told["changes"]]


def test_the_same_report_has_no_changes_and_no_warnings() -> None:
    result = told()
    assert result["changes"] == []
    assert result["warnings"] == []
    assert changes.lines(result)[0].endswith("nothing changed")


def test_a_verdict_comes_first_with_its_reason() -> None:
    def change(now: Json) -> None:
        now["checks"][0] |= {
            "verdict": "fail",
            "reason": "too few",
            "observed": {**CHECK["observed"], "gpus": 3},
        }

    result = found(told(change))
    assert result[0] == ("verdict", "a.one", "pass", "fail (too few)")
    assert ("observed", "a.one gpus", "4", "3") in result


def test_checks_that_are_new_or_gone() -> None:
    def change(now: Json) -> None:
        now["checks"][1]["id"] = "a.three"

    assert found(told(change)) == [("check", "a.three", "", "declared"), ("check", "a.two", "declared", "")]


def test_versions_images_settings_and_the_clusters_facts() -> None:
    def change(now: Json) -> None:
        now["components"][0]["version"] = "0.18.6"
        now["installation"]["images"]["cuda"] = "r/cuda:2"
        now["installation"]["settings"]["projects"][0]["gpu"]["deserved"] = 3
        now["installation"]["cluster"]["kubernetes"] = "1.35.0"

    assert found(told(change)) == [
        ("part", "kai-scheduler", "0.12.0 (upstream)", "0.18.6 (upstream)"),
        ("image", "cuda", "r/cuda:1", "r/cuda:2"),
        ("setting", "projects.team-a.gpu.deserved", "2", "3"),
        ("cluster", "kubernetes", "1.34.9", "1.35.0"),
    ]


def test_an_expectation_that_moved_is_told_once() -> None:
    def change(now: Json) -> None:
        now["checks"][0]["expected"] = {**CHECK["expected"], "gpus": 3}
        now["checks"][0]["observed"] = {**CHECK["observed"], "gpus": 3}

    assert found(told(change)) == [("expected", "a.one gpus", "4", "3")]


def test_names_and_times_of_a_run_are_no_change() -> None:
    def change(now: Json) -> None:
        now["checks"][0]["expected"] = {**CHECK["expected"], "token": "kit20261231"}
        now["checks"][0]["observed"] = {
            **CHECK["observed"],
            "token": "kit20261231",
            "seconds": 2.4,
            "pods": {"train-b9w4z": "Running"},
        }

    assert found(told(change)) == []


def test_a_number_that_was_drawn_for_a_run_is_no_change() -> None:
    before, now = copy.deepcopy(BASE), copy.deepcopy(BASE)
    for report, number in ((before, 184498228), (now, 239512470)):
        report["checks"][0] |= {"expected": {"result": number}, "observed": {"result": number}}
    assert changes.changes(load(before), load(now)) == []


def test_what_is_seen_no_more_and_what_is_seen_anew() -> None:
    def change(now: Json) -> None:
        del now["checks"][0]["observed"]["extra"]
        now["checks"][0]["observed"] = {**now["checks"][0]["observed"], "more": "x"}

    assert found(told(change)) == [("observed", "a.one extra", "5", ""), ("observed", "a.one more", "", "x")]


def test_another_cluster_is_a_warning() -> None:
    def change(now: Json) -> None:
        now["installation"]["cluster"]["uid"] = "bbbb"
        now["environment"] = "there"
        now["fakeGpus"] = False

    said = told(change)["warnings"]
    assert said[0] == "another cluster: the earlier report is about aaaa, this one about bbbb"
    assert "another environment: here then, there now" in said
    assert "GPUs were fake then and are real now" in said


def test_an_earlier_report_without_an_identity_is_a_warning_and_its_gaps_are_no_changes() -> None:
    before = copy.deepcopy(BASE)
    before["installation"] = {}
    result = changes.against(load(before), "ab" * 32, load(BASE))
    assert "not known" in result["warnings"][0]
    assert result["changes"] == []


def test_the_console_names_the_rest() -> None:
    result = told()
    result["changes"] = [{"kind": "observed", "what": f"x{i}", "before": "1", "now": "2"} for i in range(50)]
    said = changes.lines(result, most=10)
    assert len(said) == 12
    assert said[-1] == "  … 40 more in report.json"


@pytest.mark.parametrize(
    ("path", "before", "now", "moved"),
    [
        ("gpus", 4, 3, True),
        ("freePods", 98, 97, False),
        ("freePods", 98, 60, True),
        ("seconds", 45.0, 65.0, False),
        ("seconds", 10.0, 45.0, True),
        ("milliseconds", 0.2, 0.9, False),
        ("accuracy", 0.983, 0.981, False),
        ("accuracy", 0.98, 0.62, True),
        ("share", 0.5, -0.5, True),
        ("ready", True, False, True),
        ("version", "1.21.1", "1.21.2", True),
        ("node", "Running on worker2", "Running on worker", False),
        ("reason", "OverLimit", "Unschedulable", True),
        ("pods", ["a-b9w4z", "c"], ["c", "a-x7k2p"], False),
        ("pods", ["a", "b"], ["a"], True),
        ("left", [], None, True),
    ],
)
def test_what_counts_as_moved(path: str, before: Any, now: Any, moved: bool) -> None:
    assert noise.moved(path, before, now) is moved


LEAF = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8))
TREE = st.recursive(LEAF, lambda inner: st.dictionaries(st.text(max_size=5), inner, max_size=3))


@given(TREE)
def test_nothing_ever_moved_against_itself(value: Any) -> None:
    assert not any(noise.moved(path, leaf, leaf) for path, leaf in noise.leaves(value))


@given(st.integers(), st.integers())
def test_it_does_not_matter_which_of_two_numbers_came_first(one: int, other: int) -> None:
    assert noise.moved("x", one, other) == noise.moved("x", other, one)


def test_a_file_that_is_no_report_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"expected a report\.json of an earlier run"):
        changes.read(tmp_path / "missing.json")


def test_failures_come_first_and_a_shared_reason_is_told_once() -> None:
    before = copy.deepcopy(BASE)
    before["checks"] = [{**copy.deepcopy(CHECK), "id": f"a.{i}"} for i in range(7)]
    before["summary"] = {"pass": 7, "fail": 0, "skip": 0, "na": 0}
    now = copy.deepcopy(before)
    for check in now["checks"][:6]:
        check |= {"verdict": "skip", "reason": "not chosen"}
    now["checks"][6] |= {"verdict": "fail", "reason": "wrong"}
    now["summary"] = {"pass": 0, "fail": 1, "skip": 6, "na": 0}
    found = changes.changes(load(before), load(now))
    assert [(c.what, c.now) for c in found] == [
        ("a.6", "fail (wrong)"),
        ("a.0, a.1, a.2, a.3 and 2 more", "skip (not chosen)"),
    ]
