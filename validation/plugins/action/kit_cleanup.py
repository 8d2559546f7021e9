"""kit_cleanup: delete what a test (or any earlier run) made and verify that nothing is left."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import cleanup
from validation.actions import Json, KitAction
from validation.cluster import ClusterError


class ActionModule(KitAction):
    """Result: removed, left (lists of objects), found (also an error of the API) and seconds by check."""

    ARGUMENTS: ClassVar[Json] = {
        "test": {"type": "str", "default": ""},
        "check": {"type": "str", "required": True},
        "keep": {"type": "bool", "default": False},
        "timeout": {"type": "float", "default": 90.0},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        begun = time.monotonic()
        outputs, cluster, test = self.outputs, self.cluster, arguments["test"]
        if arguments["keep"]:
            kept = cleanup.left(cluster, outputs.reservationNamespace, test)
            return {
                "changed": False,
                "removed": [],
                "left": kept,
                "seconds": {},
                "found": {arguments["check"]: {"skipped": "kept on request (validation_keep)", "kept": kept}},
            }
        seen: Json
        try:
            removed, left = cleanup.remove(cluster, outputs.reservationNamespace, test, arguments["timeout"])
            seen = {"left": left, "removed": removed}
        except ClusterError as error:
            removed, left, seen = [], [], {"error": str(error)}
        return {
            "changed": bool(removed),
            "removed": removed,
            "left": left,
            "found": {arguments["check"]: seen},
            "seconds": {arguments["check"]: time.monotonic() - begun},
        }
