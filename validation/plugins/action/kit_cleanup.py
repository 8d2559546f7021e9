"""kit_cleanup: delete what a test (or any earlier run) made and verify that nothing is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from components.runai.errors import ApiError
from validation import cleanup, lease
from validation.actions import Json, KitAction
from validation.cluster import ClusterError
from validation.runai import driver
from validation.settings import OutputsError


class ActionModule(KitAction):
    """Result: removed, left (lists of objects), found (also an error of the API) and seconds by check.

    Without a test, objects of all runs are meant: only the run that holds the Lease may remove them.
    `refused` says why nothing was, else it is empty.
    """

    ARGUMENTS: ClassVar[Json] = {
        "test": {"type": "str", "default": ""},
        "check": {"type": "str", "required": True},
        "keep": {"type": "bool", "default": False},
        "timeout": {"type": "float", "default": 90.0},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        begun = time.monotonic()
        outputs, cluster, test = self.outputs, self.cluster, arguments["test"]
        if arguments["keep"]:
            kept = cleanup.left(cluster, outputs.reservationNamespace, test)
            return {
                "changed": False,
                "removed": [],
                "left": kept,
                "refused": "",
                "seconds": {},
                "found": {arguments["check"]: {"skipped": "kept on request (validation_keep)", "kept": kept}},
            }
        if not test and (refused := self._refused()):
            return {
                "changed": False,
                "removed": [],
                "left": [],
                "refused": refused,
                "found": {arguments["check"]: {"error": refused}},
                "seconds": {arguments["check"]: time.monotonic() - begun},
            }
        problems: list[str] = []
        removed: list[str] = []
        left: list[str] = []
        # Asked first: what watches the workloads elsewhere would make their objects again.
        with _noted(problems):
            removed += self._elsewhere(driver.ask_to_go, test)
        with _noted(problems):
            gone, here = cleanup.remove(cluster, outputs.reservationNamespace, test, arguments["timeout"])
            removed, left = [*removed, *gone], here
        with _noted(problems):
            left += self._elsewhere(driver.left, test, arguments["timeout"])
        seen: Json = {"error": "; ".join(problems)} if problems else {"left": left, "removed": removed}
        return {
            "changed": bool(removed),
            "removed": removed,
            "left": left,
            "refused": "",
            "found": {arguments["check"]: seen},
            "seconds": {arguments["check"]: time.monotonic() - begun},
        }

    def _refused(self) -> str:
        """Why this run may not remove what others left: one of them is at work, or nobody can tell."""
        try:
            other = lease.take(self.cluster, self.records.run()["holder"], self.say)
        except ClusterError as error:
            return f"whether another run is at work cannot be told: {error}; nothing was removed"
        if not other:
            return ""
        return (
            f"found a run at work on this cluster: {other}; expected none; wait for its end, or end it; "
            "nothing was removed"
        )

    def _elsewhere(self, step: Callable[..., list[str]], test: str, *more: float) -> list[str]:
        """What a step of driver `runai` names in the control plane; nothing of the other driver."""
        outputs = self.outputs
        if outputs.driver != "runai":
            return []
        return [f"{name} (control plane)" for name in step(driver.connect(outputs), outputs, test, *more)]


@contextmanager
def _noted(problems: list[str]) -> Iterator[None]:
    """What cannot be asked is noted, and the other steps are taken all the same."""
    try:
        yield
    except (ApiError, ClusterError, OutputsError) as error:
        problems.append(str(error))
