"""The report in the Common Test Report Format (ctrf.io), for tools that read it."""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from typing import Any

from validation.report.attachments import media_type
from validation.report.model import CheckResult, Report

Json = dict[str, Any]
SPEC = "1.0.0"
# n/a is no skip here: it was declared, with a reason, and shown to be true.
STATUS = {"pass": "passed", "fail": "failed", "skip": "skipped", "na": "other"}
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "runai-kit/validation")


def to_ctrf(report: Report) -> Json:
    """The whole document; identifiers follow from the run, so the same run gives the same document."""
    counts = report.summary
    start, stop = _milliseconds(report.started), _milliseconds(report.finished)
    return {
        "reportFormat": "CTRF",
        "specVersion": SPEC,
        "reportId": str(uuid.uuid5(NAMESPACE, f"{report.environment} {report.started}")),
        "timestamp": report.finished,
        "generatedBy": "runai-kit validation",
        "results": {
            "tool": {"name": "runai-kit validation"},
            "summary": {
                "tests": len(report.checks),
                "passed": counts.passed,
                "failed": counts.failed,
                "skipped": counts.skipped,
                "pending": 0,
                "other": counts.na,
                "suites": len({c.test for c in report.checks}),
                "start": start,
                "stop": stop,
                "duration": stop - start,
            },
            "tests": [_test(check) for check in report.checks],
            "environment": {
                "reportName": f"Validation of {report.environment}",
                "testEnvironment": report.environment,
                "healthy": report.exit_code == 0,
                "extra": {
                    "fakeGpus": report.fake_gpus,
                    "installation": report.installation,
                    "components": [f"{c.name} {c.version} ({c.provenance})" for c in report.components],
                    "deviations": report.deviations,
                    "notReal": report.not_real,
                },
            },
        },
    }


def _test(check: CheckResult) -> Json:
    found: Json = {
        "id": str(uuid.uuid5(NAMESPACE, check.id)),
        "name": f"[{check.requirement}] {check.title}",
        "status": STATUS[check.verdict],
        "rawStatus": check.verdict,
        "duration": round(check.seconds * 1000),
        "suite": [check.test or "validation"],
        "tags": [check.requirement, check.proof],
        "labels": {"check": check.id, "requirement": check.requirement, "proof": check.proof},
        "type": "acceptance",
    }
    if check.at:
        found["stop"] = _milliseconds(check.at)
        found["start"] = found["stop"] - found["duration"]
    if check.reason:
        found["message"] = check.reason
    if check.verdict == "fail":
        sides = {"expected": check.expected, "observed": check.observed}
        found["trace"] = "\n".join(f"{side}: {json.dumps(value)}" for side, value in sides.items())
    if check.evidence:
        found["attachments"] = [
            {"name": name.rpartition("/")[2], "contentType": media_type(name), "path": name}
            for name in check.evidence
        ]
    found["extra"] = {"expected": check.expected, "observed": check.observed, "todo": check.todo}
    return found


def _milliseconds(iso: str) -> int:
    return round(datetime.fromisoformat(iso).timestamp() * 1000)
