"""JUnit for CI systems: one suite per test, one case per check."""

from __future__ import annotations

import json
from typing import Any

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from validation.report.model import CheckResult, Report


def to_junit(report: Report) -> str:
    """The report as JUnit XML. n/a and skip are both `skipped` there; the message tells them apart."""
    xml = JUnitXml(report.environment)
    for name in dict.fromkeys(c.test for c in report.checks):
        suite = TestSuite(name)
        suite.timestamp = report.started
        suite.hostname = report.environment
        for key, value in _properties(report).items():
            suite.add_property(key, value)
        for check in report.of(name):
            suite.add_testcase(_case(check))
        xml.add_testsuite(suite)
    write: Any = xml.tostring
    text: bytes = write()
    return text.decode() + "\n"


def _properties(report: Report) -> dict[str, str]:
    parts = {f"version.{c.name}": f"{c.version} ({c.provenance})" for c in report.components}
    kubernetes = (report.installation.get("cluster") or {}).get("kubernetes")
    gpus = {"gpus": "fake" if report.fake_gpus else "real"}
    return {**gpus, **({"version.kubernetes": kubernetes} if kubernetes else {}), **parts}


def _case(check: CheckResult) -> Any:
    case = TestCase(f"[{check.requirement}] {check.title}", f"{check.test}.{check.id}", check.seconds)
    if check.verdict == "fail":
        failure = Failure(check.reason, check.id)
        failure.text = (
            f"expected {json.dumps(check.expected)}\nobserved {json.dumps(check.observed)}\n{check.todo}"
        )
        case.result = [failure]
    elif check.verdict in ("skip", "na"):
        word = "n/a" if check.verdict == "na" else "skipped"
        case.result = [Skipped(f"{word}: {check.reason}")]
    # The form in which CI systems look for files that belong to a case.
    lines = [f"proof: {check.proof}", *(f"[[ATTACHMENT|{name}]]" for name in check.evidence)]
    case.system_out = "\n".join(lines)
    return case
