"""`python -m validation.verdict build/report/report.json`: exit 0 pass, 1 fail, 2 only skips."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from validation.report.model import ReportError, load


def verdict(path: Path) -> tuple[int, str]:
    """(exit code, line). A report that is missing, broken or empty is a fail."""
    try:
        report = load(json.loads(path.read_text()))
    except FileNotFoundError:
        return 1, f"FAIL  no report at {path}: the playbooks did not come to their end"
    except (ReportError, ValueError) as error:
        return 1, f"FAIL  {path}: {error}"
    # Checks that share a reason (a test that was refused) are told once.
    told: dict[tuple[str, str], list[str]] = {}
    for check in report.checks:
        if check.verdict in ("fail", "skip"):
            told.setdefault((check.verdict, check.reason), []).append(check.id)
    lines = [f"  {verdict}  {', '.join(ids)}: {reason}" for (verdict, reason), ids in told.items()]
    return report.exit_code, "\n".join([report.line, *lines])


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        print("usage: python -m validation.verdict <report.json>", file=sys.stderr)
        return 1
    code, text = verdict(Path(given[0]))
    print(text)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
