"""kit_runai_submit: submit workloads to the control plane, and show what people would type instead."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation.actions import Json, KitAction
from validation.runai import driver
from validation.runai.requests import command_line


class ActionModule(KitAction):
    """Result: changed, ids of the workloads, commands in the CLI's words."""

    ARGUMENTS: ClassVar[Json] = {
        "test": {"type": "str", "required": True},
        "items": {"type": "list", "elements": "dict", "required": True},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        commands = [command_line(item) for item in arguments["items"]]
        for command in commands:
            self.say(command)
        client = driver.connect(self.outputs)
        ids = driver.submit(client, self.outputs, arguments["test"], arguments["items"])
        return {"changed": True, "ids": ids, "commands": commands}
