"""kit_evidence: store objects, conditions, events and logs of a test under evidence/<test>/."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import evidence
from validation.actions import Json, KitAction


class ActionModule(KitAction):
    """Result: files (paths relative to the report's folder)."""

    ARGUMENTS: ClassVar[Json] = {
        "test": {"type": "str", "required": True},
        "scheduler_logs": {"type": "bool", "default": False},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        folder = self.records.evidence(arguments["test"])
        written = evidence.gather(
            self.cluster,
            folder,
            arguments["test"],
            self.outputs.reservationNamespace,
            arguments["scheduler_logs"],
        )
        root = self.records.root
        return {"changed": True, "files": [str(p.relative_to(root)) for p in written]}
