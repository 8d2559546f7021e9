"""kit_report: aggregate the records into report.json, junit.xml, ctrf.json, index.html and CNCF evidence."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation.actions import Json, KitAction
from validation.report.writer import write


class ActionModule(KitAction):
    """Result: changed (a file's content changed), summary, verdict (exit code), line, failed_checks."""

    def act(self, arguments: Json) -> Json:
        """See the class."""
        project = Path(self.variable("kit_project_dir"))
        earlier = self.variable("kit_against", "") or os.environ.get("KIT_AGAINST", "")
        written = write(self.records, project, self.not_applicable, Path(earlier) if earlier else None)
        for path in written.redacted:
            self.say(f"secrets were taken out of {path.relative_to(self.records.root)}")
        return {
            "changed": written.changed,
            "summary": written.report.summary.as_dict(),
            "code": written.report.exit_code,
            "line": written.report.line,
            "failed_checks": [c.id for c in written.report.checks if c.verdict == "fail"],
        }
