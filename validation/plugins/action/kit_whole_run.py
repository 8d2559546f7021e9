"""kit_whole_run: judge what can be judged only when all tests are done."""

from __future__ import annotations

import sys
from pathlib import Path

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import whole_run
from validation.actions import Json, KitAction, checks_message
from validation.judge import judge


class ActionModule(KitAction):
    """Result: failed_checks (ids), checks (records); a report that is written again finds the same."""

    def act(self, arguments: Json) -> Json:
        """See the class."""
        records = self.records
        wanted, seen = whole_run.expected(), whole_run.observed(records)
        known = records.recorded().get(whole_run.CHECK)
        if known and known["observed"] == seen[whole_run.CHECK]:
            entries = [known]
        else:
            seconds = {whole_run.CHECK: 0.0}
            entries = judge(records, wanted, seen, self.not_applicable, {}, seconds)
        bad = [e["id"] for e in entries if e["verdict"] == "fail"]
        return {"changed": False, "failed_checks": bad, "checks": entries, "msg": checks_message(entries)}
