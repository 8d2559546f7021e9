"""`python -m validation.prove <environment> [--tags V2,gang] [--against <report.json>]`: run, then judge.

Exit code 0 pass, 1 fail, 2 nothing failed but something was skipped. A report of an earlier run is no proof:
it is removed first, and a playbook that failed is never a pass. What changed since the earlier report is told
beside the verdict and is none itself.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from validation.chains.processes import PLAYBOOK
from validation.chains.run import Run
from validation.cluster import ClusterError
from validation.declared import chosen
from validation.outputs import of_inventory
from validation.report.changes import lines, read
from validation.report.model import ReportError
from validation.settings import OutputsError
from validation.verdict import verdict

ROOT = Path(__file__).resolve().parent.parent
# The report to compare with, kept beside the new one: it may be the file that this run replaces.
EARLIER = "earlier.json"


def prove(
    environment: str, root: Path = ROOT, tags: str = "all", against: Path | None = None
) -> tuple[int, str]:
    """(exit code, what to tell) of a run; `root` is the project with `inventory/` and `validation/`."""
    inventory = Path("inventory") / environment
    if not (root / inventory).exists():
        known = ", ".join(sorted(path.name for path in (root / "inventory").iterdir()))
        return (
            1,
            f"environment: found {environment!r}, expected one of {known}; add {inventory} or correct it",
        )
    report = root / os.environ.get("KIT_REPORT_DIR", "build/report") / "report.json"
    try:
        _keep(against, report.with_name(EARLIER))
    except ReportError as error:
        return 1, f"against: {error}; nothing was run"
    report.unlink(missing_ok=True)
    status = _play(root, inventory, report.parent, tags)
    code, line = verdict(report)
    line += _changes(report)
    if status != 0 and code == 0:
        return (
            1,
            f"FAIL  the playbooks ended with status {status}, whatever the report says\n{line}",
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


def _play(root: Path, inventory: Path, report: Path, tags: str) -> int:
    """Status of the playbooks; in chains where the cluster can be asked what is free on it."""
    try:
        run = Run(root, inventory, report, of_inventory(root / inventory, root))
        schedule = run.schedule(chosen(tags.split(","), []))
    except (OutputsError, ClusterError) as error:
        # The inventory or preflight tells it, too, and the report with them.
        print(f"No chains: {error}", file=sys.stderr)
        command = ["ansible-playbook", "-i", str(inventory), PLAYBOOK, "--tags", tags]
        return subprocess.run(command, cwd=root).returncode
    return run.play(schedule)


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m validation.prove", description="Prove an installation.")
    parser.add_argument("environment", help="a folder of inventory/, such as local")
    parser.add_argument("--tags", default="all", help="tests or requirements, with commas between them")
    parser.add_argument("--against", type=Path, help="report.json of an earlier run, to show what changed")
    given = parser.parse_args(arguments)
    # A polite end also ends the playbooks, and gives back what was lent to them.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    code, text = prove(given.environment, tags=given.tags, against=given.against)
    print(text)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
