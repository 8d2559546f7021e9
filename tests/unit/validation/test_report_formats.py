"""The report for machines: CTRF, JUnit, evidence for the CNCF checklist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml

from tests.unit.validation import runs
from validation import declared
from validation.report import conformance
from validation.report.aggregate import aggregate
from validation.report.ctrf import to_ctrf
from validation.report.writer import write

pytestmark = pytest.mark.req("V12")
Json = dict[str, Any]
CHECK = "fractional_gpu.uuid"


def strict(required: dict[str, Json], **optional: Json) -> Json:
    """A JSON object with these keys and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **optional},
        "additionalProperties": False,
    }


INTEGER, TEXT, UUID = {"type": "integer"}, {"type": "string"}, {"type": "string", "format": "uuid"}
FREE: Json = {"type": "object"}
COUNTS = ("tests", "passed", "failed", "skipped", "pending", "other", "start", "stop")
# What the format's published schema requires and allows, as far as it is used here: its objects are closed.
CTRF = strict(
    {
        "reportFormat": {"const": "CTRF"},
        "specVersion": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "results": strict(
            {
                "tool": strict({"name": {"type": "string", "minLength": 1}}, version=TEXT, extra=FREE),
                "summary": strict(
                    dict.fromkeys(COUNTS, INTEGER), suites=INTEGER, duration=INTEGER, extra=FREE
                ),
                "tests": {
                    "type": "array",
                    "items": strict(
                        {
                            "name": {"type": "string", "minLength": 1},
                            "status": {"enum": ["passed", "failed", "skipped", "pending", "other"]},
                            "duration": INTEGER,
                        },
                        id=UUID,
                        start=INTEGER,
                        stop=INTEGER,
                        suite={"type": "array", "minItems": 1, "items": TEXT},
                        message=TEXT,
                        trace=TEXT,
                        rawStatus=TEXT,
                        tags={"type": "array", "items": TEXT},
                        labels={"type": "object", "additionalProperties": TEXT},
                        type=TEXT,
                        attachments={
                            "type": "array",
                            "items": strict({"name": TEXT, "contentType": TEXT, "path": TEXT}),
                        },
                        extra=FREE,
                    ),
                },
            },
            environment=strict(
                {}, reportName=TEXT, testEnvironment=TEXT, healthy={"type": "boolean"}, extra=FREE
            ),
        ),
    },
    reportId=UUID,
    timestamp={"type": "string", "format": "date-time"},
    generatedBy=TEXT,
)


def test_ctrf_has_the_published_structure(tmp_path: Path) -> None:
    records = runs.started(tmp_path)
    runs.everything(records, but={CHECK: "fail", "reclaim": "skip", "preflight.tls": "na"})
    name = runs.evidence(records, "fractional_gpu", "page.png", b"\x89PNG\r\n\x1a\n")
    records.record("fractional_gpu.running", "pass", 1.2345, {"a": 1}, {"a": 1}, evidence=[name])
    document = to_ctrf(aggregate(records, {}))
    jsonschema.validate(document, CTRF, format_checker=jsonschema.FormatChecker())
    results = document["results"]
    tests = {test["labels"]["check"]: test for test in results["tests"]}
    assert set(tests) == set(declared.checks())
    assert (tests[CHECK]["status"], tests[CHECK]["message"]) == ("failed", "because")
    assert (tests["preflight.tls"]["status"], tests["preflight.tls"]["rawStatus"]) == ("other", "na")
    assert tests["fractional_gpu.running"]["duration"] == 1234
    assert tests["fractional_gpu.running"]["attachments"] == [
        {"name": "page.png", "contentType": "image/png", "path": name}
    ]
    summary = results["summary"]
    assert summary["tests"] == len(tests) == sum(summary[s] for s in ("passed", "failed", "skipped", "other"))
    assert (summary["failed"], summary["other"]) == (1, 1)
    assert results["environment"]["healthy"] is False
    assert to_ctrf(aggregate(records, {})) == document


def test_junit_says_what_ran_where_and_names_the_files(tmp_path: Path) -> None:
    records = runs.started(tmp_path)
    runs.everything(records)
    name = runs.evidence(records, "reclaim", "log.txt", "text")
    records.record("reclaim.fill", "fail", 1, {"a": 1}, {"a": 2}, "a: expected 1, found 2", [name])
    write(records, tmp_path, {})
    suites = {suite.name: suite for suite in JUnitXml.fromfile(str(records.root / "junit.xml"))}
    assert list(suites) == list(declared.tests())
    told = {p.name: p.value for p in suites["reclaim"].properties()}  # type: ignore[no-untyped-call]
    assert told["gpus"] == "fake"
    assert told["version.kubernetes"] == "1.34.11"
    assert told["version.kai-scheduler"] == "0.12.0 (built-from-packages)"
    assert suites["reclaim"].failures == 1
    (case,) = [case for case in suites["reclaim"] if case.classname == "reclaim.reclaim.fill"]
    assert case.system_out == f"proof: live\n[[ATTACHMENT|{name}]]"


def items(records: Any) -> dict[str, conformance.Requirement]:
    return {item.id: item for item in conformance.requirements(aggregate(records, {}))}


def test_the_mapping_names_only_what_is_declared() -> None:
    known = set(declared.tests()) | set(declared.checks())
    for name, entry in conformance.table().items():
        assert set(entry["checks"]) <= known, name
        assert entry["requirement"], name
        assert entry["level"] in ("MUST", "SHOULD"), name
        assert entry["checks"] or entry["gaps"], name


@pytest.mark.parametrize(
    ("but", "verdict"),
    [
        ({}, "shown"),
        ({CHECK: "fail"}, "failed"),
        ({CHECK: "skip"}, "partly shown"),
        ({"fractional_gpu": "skip"}, "not shown"),
        ({"fractional_gpu": "na"}, "not shown"),
    ],
)
def test_a_requirement_is_shown_only_by_checks_that_passed(
    tmp_path: Path, but: dict[str, str], verdict: str
) -> None:
    records = runs.started(tmp_path)
    runs.everything(records, but=but)
    assert items(records)["gpu_sharing"].verdict == verdict


def test_a_gap_or_a_name_without_a_check_is_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry: Json = {"level": "MUST", "requirement": "r", "gaps": []}
    table = {
        "gap": {**entry, "checks": ["reclaim"], "gaps": ["something"]},
        "unknown": {**entry, "checks": ["reclaim", "no.such"]},
        "nothing": {**entry, "checks": ["no_such"]},
    }
    monkeypatch.setattr(conformance, "table", lambda: table)
    records = runs.started(tmp_path)
    runs.everything(records)
    found = items(records)
    assert {name: item.verdict for name, item in found.items()} == {
        "gap": "partly shown",
        "unknown": "partly shown",
        "nothing": "not shown",
    }
    report = aggregate(records, {})
    assert "No check speaks for it." in conformance.markdown(found["nothing"], report)
    assert "- no.such" in conformance.markdown(found["unknown"], report)


def test_inference_is_spoken_of_only_where_gateway_api_is_served(tmp_path: Path) -> None:
    records = runs.started(tmp_path)
    runs.everything(records)
    assert "ai_inference" not in items(records)
    served = runs.started(tmp_path, {**runs.CLUSTER, "apiGroups": ["gateway.networking.k8s.io"]})
    runs.everything(served)
    assert items(served)["ai_inference"].verdict == "not shown"


@pytest.mark.parametrize("fake", [True, False])
def test_each_requirement_has_a_file_that_says_whether_it_is_evidence(tmp_path: Path, fake: bool) -> None:
    records = runs.started(tmp_path, fakeGpus={"enabled": fake})
    runs.everything(records, but={CHECK: "fail"})
    name = runs.evidence(records, "fractional_gpu", "log.txt", "text")
    records.record(
        "fractional_gpu.running", "pass", 1, {"a": 1}, {"say": "```\n# no heading"}, evidence=[name]
    )
    write(records, tmp_path, {})
    folder = records.root / "evidence/conformance"
    assert {path.stem for path in folder.iterdir()} == set(items(records))
    text = (folder / "gpu_sharing.md").read_text()
    assert ("Sample, not evidence" in text) is fake
    assert "Verdict: **failed**" in text
    assert f"`{CHECK}`" in text
    assert json.dumps({"count": 2}, indent=1) in text
    assert f"[{name}](<../../{name}>)" in text
    assert (folder / "../.." / name).resolve().is_file()
    assert "````" in text
    assert "cleanup" not in text
