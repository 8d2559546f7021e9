"""Base of the suite's Ansible actions: arguments, connection and errors in one place.

They are action plugins, not modules: no second Python start per task, and the code is ordinary typed Python.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from components.runai.errors import ApiError
from validation import declared, parent
from validation.cluster import Cluster, ClusterError
from validation.expect.over_quota import ImpossibleError
from validation.https import HttpsError
from validation.records import Records
from validation.settings import OutputsError, StackOutputs, load

Json = dict[str, Any]
EXPLAINED = (
    ClusterError,
    OutputsError,
    ImpossibleError,
    HttpsError,
    ApiError,
    FileNotFoundError,
    KeyError,
    ValueError,
)


class KitAction(ActionBase):  # type: ignore[misc]
    """Subclasses give `ARGUMENTS` (an argument spec) and `act`."""

    ARGUMENTS: ClassVar[Json] = {}
    TRANSFERS_FILES = False
    _supports_check_mode = False

    def run(self, tmp: str | None = None, task_vars: Json | None = None) -> Json:
        """Validate the arguments and act; what can be explained fails the task without a traceback."""
        parent.follow()
        result: Json = super().run(tmp, task_vars)
        self.task_vars: Json = task_vars or {}
        _, arguments = self.validate_argument_spec(argument_spec=dict(self.ARGUMENTS))
        try:
            result.update(self.act(_plain(arguments)))
        except EXPLAINED as error:
            text = error.args[0] if isinstance(error, KeyError) and error.args else str(error)
            result.update(failed=True, msg=str(text))
        return result

    def act(self, arguments: Json) -> Json:
        """Do the work; the returned dict is the task's result."""
        raise NotImplementedError

    def variable(self, name: str, default: Any = None) -> Any:
        """A host variable, templated, as plain data."""
        raw = self.task_vars.get(name, default)
        return _plain(self._templar.template(raw))

    @property
    def outputs(self) -> StackOutputs:
        """The stack outputs that the inventory put into `kit`."""
        raw = self.variable("kit")
        if not raw:
            raise OutputsError(
                "variable 'kit' is not set: use an inventory of this kit (-i inventory/<environment>)"
            )
        return load(raw)

    @property
    def cluster(self) -> Cluster:
        """The cluster of the outputs' kubeconfig and context."""
        outputs = self.outputs
        return Cluster(outputs.kubeconfig, outputs.context)

    @property
    def records(self) -> Records:
        """The run's folder."""
        return Records(Path(self.variable("kit_report_dir")))

    @property
    def not_applicable(self) -> dict[str, str]:
        """What the inventory declares n/a, and what is about another kind of stack: name -> reason."""
        beside = declared.beside(self.variable("kit", {}) or {})
        return {**beside, **(self.variable("kit_not_applicable", {}) or {})}

    def say(self, text: str) -> None:
        """Progress, shown at once."""
        Display().display(f"  {text}", color="blue")


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def checks_message(entries: list[Json]) -> str:
    """One line per check for the play's output."""
    return "\n".join(
        f"{e['verdict']:4}  {e['id']}" + (f": {e['reason']}" if e["reason"] else "") for e in entries
    )
