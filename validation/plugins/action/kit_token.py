"""kit_token: make a Secret with a random token that no variable, argument or file ever holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import names, tokens
from validation.actions import Json, KitAction


class ActionModule(KitAction):
    """Result: changed, nothing else."""

    ARGUMENTS: ClassVar[Json] = {
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "required": True},
        "test": {"type": "str", "required": True},
        "role": {"type": "str", "required": True},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        labels = {
            names.MANAGED_BY_LABEL: names.MANAGED_BY,
            names.PART_OF_LABEL: names.PART_OF,
            names.TEST_LABEL: arguments["test"],
            names.ROLE_LABEL: arguments["role"],
        }
        tokens.make(self.cluster, arguments["namespace"], arguments["name"], labels)
        return {"changed": True}
