"""kit_runai_submit: submit workloads to the control plane, and show what people would type instead."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation.actions import Json, KitAction
from validation.runai import cli, driver, page


class ActionModule(KitAction):
    """Result: changed, ids of the workloads, commands in the CLI's words."""

    ARGUMENTS: ClassVar[Json] = {
        "test": {"type": "str", "required": True},
        "items": {"type": "list", "elements": "dict", "required": True},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        outputs, test, items = self.outputs, arguments["test"], arguments["items"]
        ids = driver.submit(driver.connect(outputs), outputs, test, items)
        commands = [command for item in items for command in cli.submit(item)]
        for command in commands:
            self.say(command)
        page.add(self.records.evidence(test), cli.login(outputs.controlPlane.clusterName), commands)
        return {"changed": True, "ids": ids, "commands": commands}
