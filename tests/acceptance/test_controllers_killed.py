"""Three controllers, three tests: each is killed in the middle of each, with the verdict and time expected.

A controller's pod is deleted as soon as the test has its first pod of the named part; nothing brings it back
but its own Deployment or StatefulSet.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import call, mine, when
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, in_background, prove
from validation.settings import StackOutputs

CONTROLLERS = {
    "kourier": "app=3scale-kourier-gateway",
    "scheduler": "app=kai-scheduler-default",
    "prometheus": "app.kubernetes.io/name=prometheus",
}


@dataclass(frozen=True)
class Case:
    """`part`: role of the pod at whose appearance the controller is killed; `seconds` bound the whole run."""

    controller: str
    test: str
    part: str
    seconds: float
    fails: frozenset[str] = frozenset()


CASES = [
    Case("scheduler", "gang", "gang", 180),
    Case("scheduler", "vllm_inference", "server", 300),
    Case("scheduler", "combined_state", "second", 180),
    Case("kourier", "gang", "gang", 150),
    Case("kourier", "vllm_inference", "server", 300),
    Case("kourier", "combined_state", "serving", 180),
    Case("prometheus", "gang", "gang", 150),
    Case("prometheus", "vllm_inference", "server", 300),
    Case("prometheus", "combined_state", "serving", 180),
]


@pytest.mark.req("V9", "V14", "V5")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.controller}-{case.test}")
def test_a_killed_controller(case: Case, kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path) -> None:
    selector = CONTROLLERS[case.controller]
    victims = running(kubectl, selector)
    assert victims, f"no pod of {case.controller} ({selector}) is ready"

    def kill(_: Any) -> None:
        for name, namespace in victims:
            # Without grace, as when a node dies.
            pod = name.partition("/")[0]
            now = ("--grace-period=0", "--force", "--wait=false")
            call(outputs, "delete", "pod", pod, "-n", namespace, *now)

    def work(stop: threading.Event) -> None:
        when(stop, lambda: mine(kubectl, case.test, case.part), kill)

    begun = time.monotonic()
    with in_background(work):
        _, checks = prove(case.test, outputs, tmp_path / "report")
    took = time.monotonic() - begun
    wrong = {check for check in failed(checks) if check.startswith(f"{case.test}.")}
    assert wrong == case.fails, {check: checks[check]["reason"] for check in wrong ^ case.fails}
    assert took <= case.seconds
    back = running(kubectl, selector)
    assert back
    assert not set(back) & set(victims), "it was killed, and something brought another one"


def running(kubectl: Kubectl, selector: str) -> list[tuple[str, str]]:
    """(name, uid and namespace) of ready pods; by uid, because a StatefulSet's pod keeps its name."""
    found = []
    for pod in kubectl("get", "pods", "-A", "-l", selector)["items"]:
        state = {c["type"]: c["status"] for c in pod["status"].get("conditions", [])}
        if state.get("Ready") == "True":
            meta = pod["metadata"]
            found.append((f"{meta['name']}/{meta['uid']}", meta["namespace"]))
    return found
