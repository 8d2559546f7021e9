"""kit_gone: delete some parts of a test in its middle, and wait until they are gone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import cleanup
from validation.actions import Json, KitAction


class ActionModule(KitAction):
    """Result: removed (objects). Fails when something is still there after the time-out."""

    ARGUMENTS: ClassVar[Json] = {
        "test": {"type": "str", "required": True},
        "roles": {"type": "list", "elements": "str", "required": True},
        "timeout": {"type": "float", "default": 60.0},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        removed, left = cleanup.remove_roles(
            self.cluster, arguments["test"], arguments["roles"], arguments["timeout"]
        )
        if left:
            raise ValueError(f"still there after {arguments['timeout']:g} s: {', '.join(left)}")
        return {"changed": bool(removed), "removed": removed}
