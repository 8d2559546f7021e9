"""`python -m validation.prove <environment> [--against <report.json>]`: run the playbooks, then judge.

Exit code 0 pass, 1 fail, 2 nothing failed but something was skipped. A report of an earlier run is no proof:
it is removed first, and a playbook that failed is never a pass. What changed since the earlier report is told
beside the verdict and is none itself.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path

from validation.report.changes import lines, read
from validation.report.model import ReportError
from validation.verdict import verdict

ROOT = Path(__file__).resolve().parent.parent
# The report to compare with, kept beside the new one: it may be the file that this run replaces.
EARLIER = "earlier.json"


def prove(environment: str, root: Path = ROOT, against: Path | None = None) -> tuple[int, str]:
    """(exit code, what to tell) of a whole run; `root` is the project with `inventory/` and `validation/`."""
    inventory = Path("inventory") / environment
    if not (root / inventory).exists():
        known = ", ".join(sorted(path.name for path in (root / "inventory").iterdir()))
        return (
            1,
            f"environment: found {environment!r}, expected one of {known}; add {inventory} or correct it",
        )
    report = root / os.environ.get("KIT_REPORT_DIR", "build/report") / "report.json"
    command = ["ansible-playbook", "-i", str(inventory), "validation/site.yml"]
    try:
        _keep(against, report.with_name(EARLIER))
    except ReportError as error:
        return 1, f"against: {error}; nothing was run"
    report.unlink(missing_ok=True)
    played = subprocess.run(command, cwd=root)
    code, line = verdict(report)
    line += _changes(report)
    if played.returncode != 0 and code == 0:
        return (
            1,
            f"FAIL  the playbooks ended with status {played.returncode}, whatever the report says\n{line}",
        )
    return code, line


def _keep(against: Path | None, earlier: Path) -> None:
    """Keep the earlier report for whichever playbook writes the new one. ReportError when it is none."""
    os.environ.pop("KIT_AGAINST", None)
    if against is not None:
        read(against)
        earlier.parent.mkdir(parents=True, exist_ok=True)
        earlier.write_bytes(against.read_bytes())
        os.environ["KIT_AGAINST"] = str(earlier)


def _changes(report: Path) -> str:
    try:
        told = json.loads(report.read_text()).get("against")
    except (OSError, ValueError):
        return ""
    return "\n" + "\n".join(lines(told)) if told else ""


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m validation.prove", description="Prove an installation.")
    parser.add_argument("environment", help="a folder below inventory/")
    parser.add_argument("--against", type=Path, help="report.json of an earlier run, to show what changed")
    given = parser.parse_args(arguments)
    code, text = prove(given.environment, against=given.against)
    print(text)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
