"""kit_runai_delete: remove the suite's workloads from the control plane and wait until they are gone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation.actions import Json, KitAction
from validation.runai import driver


class ActionModule(KitAction):
    """Result: changed, names of what was removed and of what is left."""

    ARGUMENTS: ClassVar[Json] = {"timeout": {"type": "float", "default": 90.0}}

    def act(self, arguments: Json) -> Json:
        """See the class. Fails when something is left: the cluster's clean-up would fight the agents."""
        removed, left = driver.remove(driver.connect(self.outputs), self.outputs, arguments["timeout"])
        failed = {"failed": True, "msg": f"left in the control plane: {', '.join(left)}"} if left else {}
        return {"changed": bool(removed), "removed": removed, "left": left, **failed}
