"""kit_workspace: look at the workspace of V6 from one side; see validation/observe/jupyter_workspace."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import ingress
from validation.actions import Json, KitAction
from validation.notebook import Notebook
from validation.observe import jupyter_inside, jupyter_login, jupyter_workspace
from validation.observe.snapshot import Snapshot


class ActionModule(KitAction):
    """Result: found and seconds by check id, pictures (paths relative to the report's folder)."""

    ARGUMENTS: ClassVar[Json] = {
        "look": {
            "type": "str",
            "required": True,
            "choices": ["holding", "address", "kernel", "page", "secrecy"],
        },
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "required": True},
        "arguments": {"type": "dict", "default": {}},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        begun = time.monotonic()
        at = Snapshot(self.cluster, self.outputs)
        place = (arguments["namespace"], arguments["name"])
        look = getattr(self, f"_{arguments['look']}")
        result: Json = {"changed": False, "pictures": [], **look(at, place, arguments["arguments"])}
        # One look judges up to three checks: the first carries the time.
        return {**result, "seconds": {next(iter(result["found"])): time.monotonic() - begun}}

    def _holding(self, at: Snapshot, place: tuple[str, str], given: Json) -> Json:
        return {"found": jupyter_workspace.holds(at, given["before"], given["queue"])}

    def _address(self, at: Snapshot, place: tuple[str, str], given: Json) -> Json:
        anonymous = self._notebook(at, place, with_token=False)
        if at.outputs.driver == "runai":
            plane = at.outputs.controlPlane.url
            led = jupyter_login.address(anonymous, plane, at.outputs.validation.timeoutSeconds)
            return {"found": {**led, **jupyter_login.closed(anonymous, plane)}}
        found = jupyter_workspace.address(anonymous, at.outputs.validation.timeoutSeconds)
        return {"found": {**found, **jupyter_workspace.closed(anonymous)}}

    def _kernel(self, at: Snapshot, place: tuple[str, str], given: Json) -> Json:
        asked = (given["kubelet"], given["numbers"])
        if at.outputs.driver == "runai":
            mine = at.mine(jupyter_workspace.TEST)
            return {"found": jupyter_inside.kernel(at.cluster, mine, given["program"], *asked)}
        return {"found": jupyter_workspace.kernel(self._notebook(at, place, with_token=True), *asked)}

    def _page(self, at: Snapshot, place: tuple[str, str], given: Json) -> Json:
        notebook = self._notebook(at, place, with_token=True)
        file = self.records.evidence(jupyter_workspace.TEST) / "jupyterlab.png"
        patience = min(60, at.outputs.validation.timeoutSeconds)
        found = jupyter_workspace.page(notebook.ingress, notebook.host, notebook.token, file, patience)
        return {
            "found": found,
            "pictures": [str(file.relative_to(self.records.root))] if file.exists() else [],
        }

    def _secrecy(self, at: Snapshot, place: tuple[str, str], given: Json) -> Json:
        token = jupyter_workspace.token_of(at.cluster, *place)
        folder = self.records.evidence(jupyter_workspace.TEST)
        return {"found": jupyter_workspace.secrecy(at, token, folder)}

    def _notebook(self, at: Snapshot, place: tuple[str, str], with_token: bool) -> Notebook:
        behind_login = at.outputs.driver == "runai"
        return Notebook(
            ingress.find(at.cluster, at.outputs),
            jupyter_login.host(at.outputs, place[1]) if behind_login else jupyter_workspace.host(at, *place),
            jupyter_workspace.token_of(at.cluster, *place) if with_token else "",
        )
