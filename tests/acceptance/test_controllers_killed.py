"""Three controllers, three tests: each is killed in the middle of each, with the verdict and time expected.

A controller's pod is deleted as soon as the test has its first pod of the named part; nothing brings it back
but its own Deployment or StatefulSet.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from functools import partial
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
    """`part`: role of the pod at whose appearance the controller is killed; `seconds` bound the test."""

    test: str
    part: str
    seconds: float
    fails: frozenset[str] = frozenset()


# In the order in which a run has them.
CASES = {
    "scheduler": (
        Case("gang", "gang", 120),
        Case("combined_state", "second", 120),
        Case("vllm_inference", "server", 270),
    ),
    "kourier": (
        Case("gang", "gang", 90),
        Case("combined_state", "serving", 120),
        Case("vllm_inference", "server", 270),
    ),
    "prometheus": (
        Case("gang", "gang", 90),
        Case("combined_state", "serving", 120),
        Case("vllm_inference", "server", 270),
    ),
}


@pytest.mark.req("V9", "V14", "V5")
@pytest.mark.parametrize("controller", CASES)
def test_a_controller_that_is_killed_in_the_middle_of_each_test(
    controller: str, kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    selector, cases = CONTROLLERS[controller], CASES[controller]
    victims: list[list[tuple[str, str]]] = []

    def kill(_: Any) -> None:
        found = running(kubectl, selector)
        assert found, f"no pod of {controller} ({selector}) is ready"
        victims.append(found)
        for name, namespace in found:
            # Without grace, as when a node dies.
            pod = name.partition("/")[0]
            now = ("--grace-period=0", "--force", "--wait=false")
            call(outputs, "delete", "pod", pod, "-n", namespace, *now)

    def work(stop: threading.Event) -> None:
        for case in cases:
            when(stop, partial(mine, kubectl, case.test, case.part), kill)

    with in_background(work):
        _, checks = prove("site", outputs, tmp_path, ",".join(case.test for case in cases))
    assert len(victims) == len(cases)
    tests = {test["name"]: test for test in json.loads((tmp_path / "report.json").read_text())["tests"]}
    for case in cases:
        wrong = {check for check in failed(checks) if check.startswith(f"{case.test}.")}
        assert wrong == case.fails, {check: checks[check]["reason"] for check in wrong ^ case.fails}
        assert tests[case.test]["ended"] - tests[case.test]["begun"] <= case.seconds, case.test
    back = running(kubectl, selector)
    assert back
    assert not set(back) & set(victims[-1]), "it was killed, and something brought another one"


def running(kubectl: Kubectl, selector: str) -> list[tuple[str, str]]:
    """(name, uid and namespace) of ready pods; by uid, because a StatefulSet's pod keeps its name."""
    found = []
    for pod in kubectl("get", "pods", "-A", "-l", selector)["items"]:
        state = {c["type"]: c["status"] for c in pod["status"].get("conditions", [])}
        if state.get("Ready") == "True":
            meta = pod["metadata"]
            found.append((f"{meta['name']}/{meta['uid']}", meta["namespace"]))
    return found
