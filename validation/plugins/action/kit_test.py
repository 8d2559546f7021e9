"""kit_test: open a test (may it run?), close it, or record that it was refused or crashed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import declared, scope
from validation.actions import Json, KitAction, checks_message
from validation.expect.nodes import bed
from validation.gate import decide
from validation.judge import close
from validation.observe import capacity, nodes
from validation.observe.snapshot import Snapshot
from validation.processes import alive


class ActionModule(KitAction):
    """Result: run (bool, for state open), failed_checks (ids)."""

    ARGUMENTS: ClassVar[Json] = {
        "name": {"type": "str", "required": True, "choices": list(declared.tests())},
        "state": {"type": "str", "required": True, "choices": ["open", "crashed", "closed"]},
        "reason": {"type": "str", "default": ""},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        name, records = arguments["name"], self.records
        beside = declared.beside(self.variable("kit", {}) or {})
        if (owner := int(self.variable("kit_owner", 0))) and not alive(owner):
            raise ValueError(f"{name} is not run: the run that it belongs to (process {owner}) is over")
        match arguments["state"]:
            case "open":
                records.open(name)
                decision = decide(
                    declared.tests()[name],
                    records.recorded(),
                    self.not_applicable,
                    records.live(),
                    self._unprovable(name),
                )
                if decision.run:
                    return {"changed": False, "run": True}
                entries = close(records, name, decision.verdict, decision.reason)
                self.say(f"{name} is not run: {decision.reason}")
                return {"changed": True, "run": False, "msg": checks_message(entries)}
            case "crashed":
                why = f"did not run: {arguments['reason'] or 'the role stopped'}"
                entries = close(records, name, "fail", why, beside)
            case _:
                why = "did not run: the role ended without recording it"
                entries = close(records, name, "fail", why, beside)
        done = records.recorded()
        bad = [c.id for c in declared.tests()[name].checks if done.get(c.id, {}).get("verdict") == "fail"]
        return {"changed": bool(entries), "failed_checks": bad, "msg": checks_message(entries)}

    def _unprovable(self, name: str) -> str:
        """Why the settings' bounds leave too little for the test; without bounds the cluster is not asked."""
        bounds = self.outputs.validation
        if name == declared.GUARD or not (bounds.maxGpus or bounds.nodePool):
            return ""
        at = Snapshot(self.cluster, self.outputs)
        whole = nodes.bed(at, capacity.measure(at.nodes, at.pods))
        return scope.unprovable(name, at.outputs, bed(nodes.bed(at, at.capacity)), bed(whole))
