"""The report's data. report.json is `Report.as_dict()`; `load` reads one back and refuses anything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

VERDICTS = ("pass", "fail", "skip", "na")
PROOFS = ("live", "contract")


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


@dataclass(frozen=True)
class Component:
    """An installed part and where its binaries come from."""

    name: str
    version: str
    provenance: str


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


@dataclass(frozen=True)
class Report:
    """A whole run; times are UTC, ISO 8601."""

    environment: str
    started: str
    finished: str
    components: list[Component]
    checks: list[CheckResult]
    fake_gpus: bool = False

    @property
    def summary(self) -> Summary:
        """Counts of the checks' verdicts."""
        counts = {v: sum(1 for c in self.checks if c.verdict == v) for v in VERDICTS}
        return Summary(counts["pass"], counts["fail"], counts["skip"], counts["na"])

    @property
    def exit_code(self) -> int:
        """0 passed, 1 something failed or nothing was checked, 2 nothing failed but something was skipped."""
        counts = self.summary
        if counts.failed or not counts.passed:
            return 1
        return 2 if counts.skipped else 0

    @property
    def line(self) -> str:
        """The verdict in one line."""
        word = {0: "PASS", 1: "FAIL", 2: "INCOMPLETE"}[self.exit_code]
        s = self.summary
        counts = f"{s.passed} passed, {s.failed} failed, {s.skipped} skipped, {s.na} n/a"
        return f"{word}  {self.environment}: {counts}"

    def as_dict(self) -> dict[str, Any]:
        """report.json; shape as in the README."""
        return {
            "environment": self.environment,
            "started": self.started,
            "finished": self.finished,
            "fakeGpus": self.fake_gpus,
            "components": [asdict(c) for c in self.components],
            "checks": [asdict(c) for c in self.checks],
            "summary": self.summary.as_dict(),
        }


def load(data: Any) -> Report:
    """A report from its JSON.

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
