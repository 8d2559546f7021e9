"""kit_runai_told: what the control plane tells of a test's workloads, and the CLI's words to see it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from components.runai.errors import ApiError
from validation.actions import Json, KitAction
from validation.compare import differences
from validation.runai import cli, driver, page, told
from validation.settings import StackOutputs


class ActionModule(KitAction):
    """Result: found and seconds by check id, files (paths relative to the report's folder).

    Agents report late: asked again until it is as expected, or `timeout` seconds are over.
    """

    ARGUMENTS: ClassVar[Json] = {
        "test": {"type": "str", "required": True},
        "check": {"type": "str", "required": True},
        "items": {"type": "list", "elements": "dict", "required": True},
        "expected": {"type": "dict", "required": True},
        "timeout": {"type": "float", "default": 30.0},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        begun = time.monotonic()
        outputs, test, items = self.outputs, arguments["test"], arguments["items"]
        check = arguments["check"]
        commands = [*cli.look(items), *cli.shares(), *cli.delete(items)]
        file = page.add(self.records.evidence(test), cli.login(outputs.controlPlane.clusterName), commands)
        for command in commands:
            self.say(command)
        while True:
            seen = self._ask(outputs, test)
            passed = time.monotonic() - begun
            if not differences(arguments["expected"], seen) or passed > arguments["timeout"]:
                break
            time.sleep(1)
        return {
            "changed": False,
            "found": {check: seen},
            "seconds": {check: passed},
            "files": [str(file.relative_to(self.records.root))],
        }

    def _ask(self, outputs: StackOutputs, test: str) -> Json:
        try:
            return told.table(list(driver.own(driver.connect(outputs), outputs, test)))
        except ApiError as error:
            return {"error": str(error)}
