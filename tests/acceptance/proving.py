"""Run playbooks of the suite against a cluster that is wrong, and look at what they say of it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance import seen
from tests.acceptance.conftest import ROOT
from validation.settings import StackOutputs
from validation.verdict import verdict

Json = dict[str, Any]


@dataclass(frozen=True)
class Wrong:
    """A check that must fail within so many seconds, with these words in its text.

    A failing check takes one or two; the rest is for a machine on which two suites run.
    """

    check: str
    words: tuple[str, ...]
    seconds: float = 10.0


@dataclass(frozen=True)
class Proof:
    """How a run ended: `code` is what `make validate` returns, `seconds` the whole run's."""

    code: int
    seconds: float
    checks: dict[str, Json]
    said: str

    def failed(self, *tests: str) -> set[str]:
        """Failed checks, of these tests only when some are named."""
        bad = {name for name, check in self.checks.items() if check["verdict"] == "fail"}
        return {name for name in bad if not tests or name.partition(".")[0] in tests}

    def reason(self, check: str) -> str:
        """What the report says of a check that did not pass."""
        return str(self.checks[check]["reason"])

    def shows(self, *wrong: Wrong) -> None:
        """Each check failed, within its bound, and named its cause; the run as a whole is a fail."""
        faults = [fault for one in wrong for fault in self._faults(one)]
        assert not faults, "\n".join(faults)
        assert self.code == 1, self.said

    def _faults(self, one: Wrong) -> list[str]:
        entry = self.checks[one.check]
        if entry["verdict"] != "fail":
            return [f"{one.check}: {entry['verdict']} {entry['reason']}"]
        missing = [word for word in one.words if word not in entry["reason"]]
        slow = entry["seconds"] > one.seconds
        return [
            *([f"{one.check} does not tell {missing}: {entry['reason']}"] if missing else []),
            *([f"{one.check}: {entry['seconds']} s, expected {one.seconds} s at most"] if slow else []),
        ]


def prove(
    outputs: StackOutputs,
    folder: Path,
    playbook: str = "site",
    tags: str = "",
    variables: Json | None = None,
    bounds: Json | None = None,
    **changes: Any,
) -> Proof:
    """One run: `variables` of roles, `bounds` of the settings' validation section, other outputs by name."""
    raw = outputs.model_dump()
    folder.mkdir(exist_ok=True)
    file = folder / "outputs.json"
    file.write_text(json.dumps({**raw, **changes, "validation": {**raw["validation"], **(bounds or {})}}))
    report = folder / "report"
    command = ["ansible-playbook", "-i", f"inventory/{outputs.environment}", f"validation/{playbook}.yml"]
    command += ["-e", json.dumps({"kit_report_dir": str(report), **(variables or {})})]
    command += ["--tags", tags] if tags else []
    environment = {**os.environ, "KIT_OUTPUTS_FILE": str(file)}
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    took = time.monotonic() - begun
    result = report / "report.json"
    assert result.exists(), done.stdout[-3000:] + done.stderr[-1000:]
    checks = {c["id"]: c for c in json.loads(result.read_text())["checks"]}
    seen.note(checks)
    code, line = verdict(result)
    assert (done.returncode != 0) is (code == 1), f"ansible-playbook ended with {done.returncode}; {line}"
    assert "Traceback" not in done.stdout + done.stderr
    return Proof(code, took, checks, line)
