"""kit_check: compare expected with observed and record verdicts. A failed check does not fail the task."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation.actions import Json, KitAction, checks_message
from validation.judge import judge


class ActionModule(KitAction):
    """Result: failed_checks (ids), checks (records)."""

    ARGUMENTS: ClassVar[Json] = {
        "expected": {"type": "dict", "required": True},
        "observed": {"type": "dict", "required": True},
        "only": {"type": "list", "elements": "str", "default": []},
        "applicable": {"type": "dict", "default": {}},
        "seconds": {"type": "dict", "default": {}},
        "evidence": {"type": "dict", "default": {}},
        # Check id -> what else is known of the reasons, for the text of a failure.
        "why": {"type": "dict", "default": {}},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        only = arguments["only"]
        expected, observed = (
            {k: v for k, v in arguments[side].items() if not only or k in only}
            for side in ("expected", "observed")
        )
        for wanted in only:
            # Named by the role, so it is judged (and fails) even when neither side has it.
            expected.setdefault(wanted, None)
        for check_id, cause in arguments["why"].items():
            seen = observed.get(check_id)
            if cause and isinstance(seen, dict):
                observed[check_id] = {**seen, "why": [*_texts(seen.get("why")), cause]}
        entries = judge(
            self.records,
            expected,
            observed,
            self.not_applicable,
            arguments["applicable"],
            arguments["seconds"],
            arguments["evidence"],
        )
        bad = [e["id"] for e in entries if e["verdict"] == "fail"]
        for entry in entries:
            if entry["verdict"] != "pass":
                self.say(f"{entry['verdict']}  {entry['id']}: {entry['reason']}")
        return {"changed": False, "failed_checks": bad, "checks": entries, "msg": checks_message(entries)}


def _texts(told: object) -> list[str]:
    return [told] if isinstance(told, str) else list(told) if isinstance(told, list) else []
