"""kit_wait: wait until a test's pods and queues are in a state; a time-out is left to the checks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation.actions import Json, KitAction
from validation.waiting import Goal, wait


class ActionModule(KitAction):
    """Result: reached, waited (seconds), why (goal, state and PodGroup reasons when not reached)."""

    ARGUMENTS: ClassVar[Json] = {
        "test": {"type": "str", "required": True},
        "running": {"type": "dict", "default": {}},
        "pending": {"type": "dict", "default": {}},
        "finished": {"type": "dict", "default": {}},
        "queues": {"type": "dict", "default": {}},
        "timeout": {"type": "float"},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        goal = Goal(
            running={k: int(v) for k, v in arguments["running"].items()},
            pending={k: int(v) for k, v in arguments["pending"].items()},
            finished={k: int(v) for k, v in arguments["finished"].items()},
            queues={k: float(v) for k, v in arguments["queues"].items()},
        )
        timeout = arguments["timeout"] or self.outputs.validation.timeoutSeconds
        done = wait(self.cluster, arguments["test"], goal, timeout, self.say)
        return {
            "changed": False,
            "reached": done.reached,
            "waited": round(done.seconds, 3),
            "why": done.why,
            "running": done.state.running,
        }
