"""Aggregate the records of a run, take secrets out of what it left, and write the report's files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from validation import redact, timeline
from validation.files import write_atomically
from validation.records import Records
from validation.report import changes, conformance
from validation.report.aggregate import aggregate
from validation.report.ctrf import to_ctrf
from validation.report.html import render
from validation.report.junit import to_junit
from validation.report.model import Report


@dataclass(frozen=True)
class Written:
    """The report, whether any of its files changed, and the files that secrets were taken out of."""

    report: Report
    changed: bool
    redacted: list[Path]


def write(
    records: Records, project: Path, not_applicable: Mapping[str, str], earlier: Path | None = None
) -> Written:
    """Write every file of the report; files whose content is the same stay untouched.

    `earlier`: a report to compare with; ReportError when it is none. FileNotFoundError without a started run.
    """
    root = records.root
    # Before anything is shown: what a test stored by itself was not looked at yet.
    redacted = [path for path in _stored(root) if redact.file(path)]
    report = aggregate(records, not_applicable)
    if earlier is not None:
        known, digest = changes.read(earlier)
        report = replace(report, against=redact.data(changes.against(known, digest, report)))
    text = json.dumps(report.as_dict(), indent=1) + "\n"
    files = {
        "report.json": text,
        "junit.xml": to_junit(report),
        "ctrf.json": json.dumps(to_ctrf(report), indent=1) + "\n",
        **{item.file: conformance.markdown(item, report) for item in conformance.requirements(report)},
        "index.html": render(report, root, project, hashlib.sha256(text.encode()).hexdigest()),
    }
    changed = bool(redacted)
    for name, content in files.items():
        path = root / name
        if not path.exists() or path.read_text() != content:
            write_atomically(path, content)
            changed = True
    return Written(report, changed, redacted)


def _stored(root: Path) -> list[Path]:
    """What the run left, without what is written here."""
    own = root / conformance.FOLDER
    below = [path for folder in ("evidence", "checks") for path in sorted((root / folder).rglob("*"))]
    files = [root / "run.json", root / timeline.FILE, *below]
    return [path for path in files if path.is_file() and own not in path.parents]
