"""kit_run: begin a run (records folder, plan of tests chosen by tags) and tell the ids the sampler needs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import declared
from validation.actions import Json, KitAction


class ActionModule(KitAction):
    """Result: tests (chosen), parent (process id of ansible-playbook)."""

    ARGUMENTS: ClassVar[Json] = {
        "tags": {"type": "list", "elements": "str", "default": ["all"]},
        "skip_tags": {"type": "list", "elements": "str", "default": []},
        "tests": {"type": "list", "elements": "str", "default": []},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        outputs = self.outputs
        unknown = set(arguments["tests"]) - set(declared.tests())
        if unknown:
            raise ValueError(f"unknown tests {sorted(unknown)}; there are {', '.join(declared.tests())}")
        chosen = arguments["tests"] or declared.chosen(arguments["tags"], arguments["skip_tags"])
        self.records.start(
            {
                "environment": outputs.environment,
                "context": outputs.context,
                "tests": chosen,
                "components": [
                    c.model_dump(include={"name", "version", "provenance"}) for c in outputs.components
                ],
                "fakeGpus": outputs.fakeGpus.enabled,
            }
        )
        (self.records.root / "timeline.jsonl").unlink(missing_ok=True)
        (self.records.root / "sampler.stop").unlink(missing_ok=True)
        return {"changed": True, "tests": chosen, "parent": os.getppid()}
