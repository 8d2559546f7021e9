"""Preflight of an earlier run: taken over as it was, told in the report, refused where it says nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from validation import declared, reuse
from validation.gate import decide
from validation.records import Json, Records
from validation.report.writer import write

pytestmark = pytest.mark.req("V1", "V12")
HERE: Json = {"uid": "a-cluster"}
GUARD = declared.tests()[declared.GUARD]
LATE = {check.id for check in GUARD.checks if check.late}
BLOCKING = next(check.id for check in GUARD.checks if check.blocking)


def begin(folder: Path, cluster: Json = HERE) -> Records:
    records = Records(folder)
    records.start({"environment": "x", "tests": list(declared.tests()), "components": [], "cluster": cluster})
    return records


@pytest.fixture
def earlier(tmp_path: Path) -> Records:
    records = begin(tmp_path / "earlier")
    records.open(declared.GUARD)
    for check in GUARD.checks:
        records.record(check.id, "pass", 1.0, 1, 1)
    records.keep_live({"freeGpus": 8})
    return records


@pytest.fixture
def records(earlier: Records, tmp_path: Path) -> Records:
    return begin(tmp_path / "now")


def test_the_gate_reads_it_and_the_report_tells_whose_it_is(
    records: Records, earlier: Records, tmp_path: Path
) -> None:
    began = reuse.take(records, earlier.root, HERE)
    assert began == earlier.run()["started"]
    assert set(records.recorded()) == {check.id for check in GUARD.checks} - LATE
    assert records.live() == {"freeGpus": 8}
    assert decide(declared.tests()["reclaim"], records.recorded(), {}, records.live()).run
    records.amend(preflightOf=began)
    report = write(records, tmp_path, {}).report
    assert report.not_real[0] == f"Preflight: its results are those of the run that began at {began}."
    # It took none of this run's time.
    assert next(test for test in report.tests if test.name == declared.GUARD).ended == 0


def test_a_refusal_stays_a_refusal(records: Records, earlier: Records) -> None:
    earlier.record(BLOCKING, "fail", 1.0, 1, 2, "it is wrong")
    reuse.take(records, earlier.root, HERE)
    refused = decide(declared.tests()["reclaim"], records.recorded(), {}, {})
    assert (refused.run, refused.verdict) == (False, "skip")
    assert "it is wrong" in refused.reason


def test_the_age_is_that_of_the_look_however_often_it_is_taken_over(
    records: Records, earlier: Records, tmp_path: Path
) -> None:
    records.amend(preflightOf=reuse.take(records, earlier.root, HERE))
    third = begin(tmp_path / "third")
    assert reuse.take(third, records.root, HERE) == earlier.run()["started"]
    path = earlier.checks / f"{BLOCKING}.json"
    old = (datetime.now(UTC) - timedelta(minutes=61)).isoformat()
    (records.checks / path.name).write_text(json.dumps({**json.loads(path.read_text()), "at": old}))
    with pytest.raises(ValueError, match="a preflight of 61 minutes ago"):
        reuse.take(begin(tmp_path / "fourth"), records.root, HERE)


def test_another_cluster_an_unknown_one_and_half_a_preflight_are_refused(
    records: Records, earlier: Records, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="a run on another cluster"):
        reuse.take(records, earlier.root, {"uid": "another"})
    with pytest.raises(ValueError, match="a run on another cluster"):
        reuse.take(records, earlier.root, {"error": "nobody answers"})
    (earlier.checks / f"{BLOCKING}.json").unlink()
    with pytest.raises(ValueError, match=f"no record of {BLOCKING}"):
        reuse.take(records, earlier.root, HERE)
    with pytest.raises(ValueError, match=r"found no run in .*nothing"):
        reuse.take(records, tmp_path / "nothing", HERE)
    assert records.recorded() == {}
