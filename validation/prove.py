"""`python -m validation.prove <environment>`: run the playbooks, then pass judgement on this run's report.

Exit code 0 pass, 1 fail, 2 nothing failed but something was skipped. A report of an earlier run is no proof:
it is removed first, and a playbook that failed is never a pass.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from validation.verdict import verdict

ROOT = Path(__file__).resolve().parent.parent


def prove(environment: str, root: Path = ROOT) -> tuple[int, str]:
    """(exit code, what to tell) of a whole run; `root` is the project with `inventory/` and `validation/`."""
    inventory = Path("inventory") / environment
    if not (root / inventory).exists():
        known = ", ".join(sorted(path.name for path in (root / "inventory").iterdir()))
        return (
            1,
            f"environment: found {environment!r}, expected one of {known}; add {inventory} or correct it",
        )
    report = root / os.environ.get("KIT_REPORT_DIR", "build/report") / "report.json"
    report.unlink(missing_ok=True)
    played = subprocess.run(["ansible-playbook", "-i", str(inventory), "validation/site.yml"], cwd=root)
    code, line = verdict(report)
    if played.returncode != 0 and code == 0:
        return (
            1,
            f"FAIL  the playbooks ended with status {played.returncode}, whatever the report says\n{line}",
        )
    return code, line


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        print("usage: python -m validation.prove <environment>", file=sys.stderr)
        return 1
    code, text = prove(given[0])
    print(text)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
