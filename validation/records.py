"""Records of a run on disk: the plan, one file per check, marks for times; written atomically."""

from __future__ import annotations

import json
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from validation import declared, redact
from validation.files import write_atomically as write_atomically

Json = dict[str, Any]
VERDICTS = ("pass", "fail", "skip", "na")


def now() -> str:
    """UTC time with milliseconds, as the report writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class Records:
    """Folder of one run (build/report): run.json, checks/<id>.json, evidence/<test>/…"""

    root: Path

    @property
    def checks(self) -> Path:
        """Folder of the checks' records."""
        return self.root / "checks"

    def evidence(self, test: str) -> Path:
        """Folder of a test's evidence."""
        return self.root / "evidence" / test

    def start(self, run: Json) -> None:
        """Begin a run: what an earlier one left in this folder goes, the plan and an id are written."""
        for old in (self.checks, self.root / "evidence", self.root / "marks"):
            shutil.rmtree(old, ignore_errors=True)
        for name in ("report.json", "junit.xml", "ctrf.json", "index.html", "live.json"):
            (self.root / name).unlink(missing_ok=True)
        self.checks.mkdir(parents=True, exist_ok=True)
        write_atomically(
            self.root / "run.json",
            json.dumps({**run, "id": secrets.token_hex(6), "started": now()}, indent=1),
        )

    def forget(self) -> None:
        """Take an earlier run's plan away, so that it is not taken for this one's."""
        (self.root / "run.json").unlink(missing_ok=True)

    @property
    def begun(self) -> bool:
        """Is there a plan of a run?"""
        return (self.root / "run.json").exists()

    def keep_live(self, facts: Json) -> None:
        """Preflight's facts of the cluster, for the gate of each test, in whatever process it runs."""
        write_atomically(self.root / "live.json", json.dumps(facts, indent=1))

    def live(self) -> Json:
        """Those facts; none before preflight."""
        path = self.root / "live.json"
        data: Json = json.loads(path.read_text()) if path.exists() else {}
        return data

    def run(self) -> Json:
        """The plan of the run; FileNotFoundError before start."""
        data: Json = json.loads((self.root / "run.json").read_text())
        return data

    def amend(self, **more: Any) -> None:
        """Add to the plan what came to be known later."""
        write_atomically(self.root / "run.json", json.dumps({**self.run(), **more}, indent=1))

    def mark(self, test: str) -> None:
        """Start the clock of a test's next check."""
        write_atomically(self.root / "marks" / test, repr(time.time()))

    def open(self, test: str) -> None:
        """A test begins, and with it the clock of its first check."""
        self.mark(test)
        write_atomically(self.root / "marks" / f"{test}.opened", repr(time.time()))

    def opened(self, test: str) -> float:
        """When the test began (Unix s); 0 when it did not."""
        path = self.root / "marks" / f"{test}.opened"
        return float(path.read_text()) if path.exists() else 0.0

    def elapsed(self, test: str) -> float:
        """Seconds since the last mark; 0 without one."""
        path = self.root / "marks" / test
        return max(0.0, time.time() - float(path.read_text())) if path.exists() else 0.0

    def record(
        self,
        check_id: str,
        verdict: str,
        seconds: float,
        expected: Any,
        observed: Any,
        reason: str = "",
        evidence: list[str] | None = None,
    ) -> Json:
        """Write one check's record and return it; ValueError on an unknown verdict."""
        if verdict not in VERDICTS:
            raise ValueError(f"verdict {verdict!r} is none of {', '.join(VERDICTS)}")
        check = declared.find(check_id)
        entry: Json = {
            "id": check.id,
            "test": check.test,
            "requirement": check.requirement,
            "title": check.title,
            "proof": check.proof,
            "verdict": verdict,
            "seconds": round(seconds, 3),
            "expected": redact.data(expected),
            "observed": redact.data(observed),
            "evidence": evidence or [],
            "reason": redact.text(reason),
            "todo": check.todo if verdict in ("fail", "skip") else "",
            "at": now(),
        }
        write_atomically(self.checks / f"{check.id}.json", json.dumps(entry, indent=1, default=str))
        return entry

    def recorded(self) -> dict[str, Json]:
        """All records by check id."""
        found = (json.loads(path.read_text()) for path in sorted(self.checks.glob("[!.]*.json")))
        return {entry["id"]: entry for entry in found}

    def missing(self, test: str) -> list[str]:
        """Declared checks of a test without a record; late ones are not awaited."""
        done = self.recorded()
        return [c.id for c in declared.tests()[test].checks if c.id not in done and not c.late]


def not_applicable(check: declared.Check, reasons: Mapping[str, str]) -> str | None:
    """Reason of a n/a declaration that covers the check: by its id, its test or its requirement."""
    for name in (check.id, check.test, declared.tests()[check.test].requirement):
        if name in reasons:
            return str(reasons[name])
    return None
