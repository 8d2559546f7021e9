"""index.html: one file, no request to anywhere, every value escaped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from validation import timeline, wording
from validation.report import attachments, changes, conformance, model
from validation.report.aggregate import moment
from validation.report.attachments import Attachment
from validation.report.axis import clock
from validation.report.model import CheckResult, Report, TestRun
from validation.report.picture import Picture, draw
from validation.report.values import Row, rows

TEMPLATES = Path(__file__).with_name("templates")
# A mark beside the word: verdicts are told apart without colour, and on a black and white print.
MARKS = {"pass": "✓", "fail": "✗", "skip": "○", "na": "–"}
WORDS = {"pass": "pass", "fail": "FAIL", "skip": "skipped", "na": "n/a"}


@dataclass(frozen=True)
class CheckView:
    """A check with its rows and files; `again` names files that an earlier check of the page shows."""

    check: CheckResult
    rows: list[Row]
    files: list[Attachment]
    again: list[str]


@dataclass(frozen=True)
class TestView:
    """A test with its checks, and evidence that none of them names."""

    __test__ = False

    test: TestRun
    requirement: str
    verdict: str
    proof: str
    counts: model.Summary
    seconds: float
    checks: list[CheckView]
    more: list[Attachment]


@dataclass(frozen=True)
class Failure:
    """Checks of a test that failed for the same reason, told once."""

    reason: str
    checks: list[CheckResult]
    todos: list[str]


def render(report: Report, root: Path, project: Path, digest: str) -> str:
    """The page. `root` is the report's folder, `digest` the SHA-256 of report.json beside it.

    `project` is taken out of any text shown.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clock"] = clock
    environment.filters["utc"] = utc
    page = environment.get_template("index.html.j2").render(
        report=report,
        tests=[_test(test, report, root) for test in report.tests],
        failed=_failed(report),
        picture=_picture(report, root),
        conformance=conformance.requirements(report),
        kinds=changes.KINDS,
        digest=digest,
        marks=MARKS,
        words=WORDS,
        minutes=clock(moment(report.finished) - moment(report.started)),
    )
    return page.replace(f"{project}/", "")


def utc(iso: str) -> str:
    """2026-11-30T19:05:43.123Z → 2026-11-30 19:05 UTC."""
    return f"{iso[:10]} {iso[11:16]} UTC"


def _test(test: TestRun, report: Report, root: Path) -> TestView:
    checks = report.of(test.name)
    shown: set[str] = set()
    views = [_check(check, root, shown) for check in checks]
    return TestView(
        test=test,
        requirement=wording.wording().get(test.requirement, ""),
        verdict=model.worst(checks),
        proof=model.proof(checks),
        counts=model.count(checks),
        seconds=test.ended - test.begun,
        checks=views,
        more=[attachments.attach(root, name) for name in attachments.unlisted(root, test.name, shown)],
    )


def _failed(report: Report) -> list[Failure]:
    groups: dict[tuple[str, str], list[CheckResult]] = {}
    for check in report.checks:
        if check.verdict == "fail":
            groups.setdefault((check.test, check.reason), []).append(check)
    return [
        Failure(reason, checks, list(dict.fromkeys(c.todo for c in checks)))
        for (_, reason), checks in groups.items()
    ]


def _check(check: CheckResult, root: Path, shown: set[str]) -> CheckView:
    """Files are shown once per test; `shown` is added to."""
    new = [name for name in dict.fromkeys(check.evidence) if name not in shown]
    again = [name for name in dict.fromkeys(check.evidence) if name in shown]
    shown.update(new)
    files = sorted((attachments.attach(root, name) for name in new), key=lambda f: f.kind != "picture")
    return CheckView(check, rows(check.expected, check.observed, check.ran), files, again)


def _picture(report: Report, root: Path) -> Picture | None:
    path = root / timeline.FILE
    lines = timeline.read(path) if path.exists() else []
    samples = [line for line in lines if line["kind"] == "sample"]
    _, series = timeline.series(samples)
    return draw(report, moment(report.started), [s["t"] for s in samples], series)
