"""Aggregate the records of a run and write its three files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from validation.records import Records, write_atomically
from validation.report.aggregate import aggregate
from validation.report.html import render
from validation.report.junit import to_junit
from validation.report.model import Report


@dataclass(frozen=True)
class Written:
    """The report and whether any of its files changed."""

    report: Report
    changed: bool


def write(records: Records, project: Path, not_applicable: Mapping[str, str]) -> Written:
    """Aggregate the records and write the three files; files whose content is the same stay untouched."""
    report = aggregate(records, not_applicable)
    root = records.root
    files = {
        "report.json": json.dumps(report.as_dict(), indent=1) + "\n",
        "junit.xml": to_junit(report),
        "index.html": render(report, root, project),
    }
    changed = False
    for name, text in files.items():
        path = root / name
        if not path.exists() or path.read_text() != text:
            write_atomically(path, text)
            changed = True
    return Written(report, changed)
