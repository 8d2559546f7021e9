"""The report's data. report.json is `Report.as_dict()`; `load` reads one back and refuses anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

VERDICTS = ("pass", "fail", "skip", "na")
PROOFS = ("live", "contract")
Json = dict[str, Any]


class ReportError(ValueError):
    """Not a report of this kit, or one that contradicts itself."""


@dataclass(frozen=True)
class CheckResult:
    """One check. seconds: wall time; expected/observed: JSON; evidence: paths relative to the report."""

    id: str
    requirement: str
    title: str
    proof: str
    verdict: str
    seconds: float
    expected: Any
    observed: Any
    evidence: list[str] = field(default_factory=list)
    test: str = ""
    reason: str = ""
    todo: str = ""
    at: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ReportError(f"check {self.id}: verdict {self.verdict!r} is none of {', '.join(VERDICTS)}")
        if self.proof not in PROOFS:
            raise ReportError(f"check {self.id}: proof {self.proof!r} is none of {', '.join(PROOFS)}")

    @property
    def ran(self) -> bool:
        """It came to a verdict of its own; a failure with nothing on either side did not run."""
        looked = self.expected is not None or self.observed is not None
        return self.verdict == "pass" or (self.verdict == "fail" and looked)


@dataclass(frozen=True)
class Component:
    """An installed part and where its binaries come from."""

    name: str
    version: str
    provenance: str


@dataclass(frozen=True)
class TestRun:
    """A test of the run: when it began and ended (Unix seconds, 0 = it did not run), and in which chain."""

    __test__ = False

    name: str
    requirement: str
    title: str
    chain: str = ""
    begun: float = 0.0
    ended: float = 0.0


@dataclass(frozen=True)
class Summary:
    """Counts of verdicts."""

    passed: int
    failed: int
    skipped: int
    na: int

    def as_dict(self) -> dict[str, int]:
        """As report.json has it."""
        return {"pass": self.passed, "fail": self.failed, "skip": self.skipped, "na": self.na}

    @property
    def words(self) -> str:
        """In one line."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped, {self.na} n/a"


def count(checks: Iterable[CheckResult]) -> Summary:
    """Counts of checks' verdicts."""
    verdicts = [c.verdict for c in checks]
    return Summary(*(verdicts.count(v) for v in VERDICTS))


def worst(checks: Iterable[CheckResult]) -> str:
    """The verdict of several checks together; n/a only when none of them could say anything."""
    verdicts = {c.verdict for c in checks}
    return next((v for v in ("fail", "skip", "pass") if v in verdicts), "na")


def proof(checks: Iterable[CheckResult]) -> str:
    """live or contract for what ran; assumed when nothing did."""
    return ", ".join(sorted({c.proof for c in checks if c.ran}, reverse=True)) or "assumed"


@dataclass(frozen=True)
class Report:
    """A whole run; times are UTC, ISO 8601.

    Of later additions (installation and below) a report of an earlier version has none. `chains`: on which
    nodes tests ran beside each other, or why none did.
    """

    environment: str
    started: str
    finished: str
    components: list[Component]
    checks: list[CheckResult]
    fake_gpus: bool = False
    installation: Json = field(default_factory=dict)
    tests: list[TestRun] = field(default_factory=list)
    deviations: list[Json] = field(default_factory=list)
    manual_steps: list[Json] = field(default_factory=list)
    not_real: list[str] = field(default_factory=list)
    # What changed since an earlier report, see changes.py; None when there was none to compare with.
    against: Json | None = None
    chains: str = ""

    @property
    def summary(self) -> Summary:
        """Counts of the checks' verdicts."""
        return count(self.checks)

    @property
    def exit_code(self) -> int:
        """0 passed, 1 something failed or nothing was checked, 2 nothing failed but something was skipped."""
        counts = self.summary
        if counts.failed or not counts.passed:
            return 1
        return 2 if counts.skipped else 0

    @property
    def word(self) -> str:
        """The verdict in one word."""
        return {0: "PASS", 1: "FAIL", 2: "INCOMPLETE"}[self.exit_code]

    @property
    def line(self) -> str:
        """The verdict in one line."""
        return f"{self.word}  {self.environment}: {self.summary.words}"

    def of(self, test: str) -> list[CheckResult]:
        """Checks of a test."""
        return [c for c in self.checks if c.test == test]

    def as_dict(self) -> Json:
        """report.json; shape as in the README."""
        return {
            "environment": self.environment,
            "started": self.started,
            "finished": self.finished,
            "fakeGpus": self.fake_gpus,
            "installation": self.installation,
            "components": [asdict(c) for c in self.components],
            "tests": [asdict(t) for t in self.tests],
            "checks": [asdict(c) for c in self.checks],
            "summary": self.summary.as_dict(),
            "deviations": self.deviations,
            "manualSteps": self.manual_steps,
            "notReal": self.not_real,
            **({"against": self.against} if self.against else {}),
            "chains": self.chains,
        }


def load(data: Any) -> Report:
    """A report from its JSON, also of an earlier version of the kit.

    ReportError names what is missing or contradictory, such as a summary that does not count its checks.
    """
    try:
        report = Report(
            environment=str(data["environment"]),
            started=str(data["started"]),
            finished=str(data["finished"]),
            components=[Component(c["name"], c["version"], c["provenance"]) for c in data["components"]],
            checks=[_check(c) for c in data["checks"]],
            fake_gpus=bool(data.get("fakeGpus", False)),
            installation=dict(data.get("installation", {})),
            tests=[TestRun(**t) for t in data.get("tests", [])],
            deviations=list(data.get("deviations", [])),
            manual_steps=list(data.get("manualSteps", [])),
            not_real=list(data.get("notReal", [])),
            against=data.get("against"),
            chains=str(data.get("chains", "")),
        )
        told = data["summary"]
    except (KeyError, TypeError) as error:
        raise ReportError(f"not a report of this kit: {error!r}") from None
    if dict(told) != report.summary.as_dict():
        raise ReportError(f"summary {told} does not count the checks ({report.summary.as_dict()})")
    return report


def _check(data: Mapping[str, Any]) -> CheckResult:
    required = (
        "id",
        "requirement",
        "title",
        "proof",
        "verdict",
        "seconds",
        "expected",
        "observed",
        "evidence",
    )
    optional = ("test", "reason", "todo", "at")
    return CheckResult(**{k: data[k] for k in required}, **{k: data[k] for k in optional if k in data})
