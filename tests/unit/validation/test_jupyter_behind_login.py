"""A workspace behind the control plane's login: where its address leads, and a kernel asked in the pod."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from validation.cluster import Cluster, ClusterError
from validation.compare import differences
from validation.expect.jupyter_workspace import expected
from validation.https import Answer
from validation.observe import jupyter_inside
from validation.observe.jupyter_login import leads
from validation.settings import StackOutputs

Json = dict[str, Any]
PLANE = "https://runai.corp.test"
UUID = "GPU-11111111-1111-1111-1111-111111111111"
SMI = f"GPU 0: NVIDIA H100 (UUID: {UUID})\n"
POD = {
    "metadata": {"name": "runai-kit-jupyter-0", "namespace": "runai-team-a"},
    "status": {"phase": "Running"},
    "spec": {"containers": [{"name": "runai-kit-jupyter"}, {"name": "gate"}]},
}


def answer(status: int, location: str = "") -> Answer:
    return Answer(status, {"location": location} if location else {}, b"", 0.1)


@pytest.mark.req("V6", "V13")
@pytest.mark.parametrize(
    ("given", "found"),
    [
        (answer(302, f"{PLANE}/auth/realms/runai/protocol/openid-connect/auth"), "login"),
        (answer(302, "/oauth2/start?rd=%2Flab"), "login"),
        (answer(302, "/login?next=%2Flab"), 302),
        (answer(302, "https://elsewhere.test/auth"), 302),
        (answer(403), 403),
        (answer(200, f"{PLANE}/auth"), 200),
    ],
)
def test_only_the_control_planes_login_counts(given: Answer, found: str | int) -> None:
    assert leads(given, PLANE) == found


@pytest.mark.req("V6", "V13")
@pytest.mark.parametrize(("found", "open_"), [("login", False), (403, False), (200, True), (302, True)])
def test_an_address_that_leads_elsewhere_fails(
    found: str | int, open_: bool, outputs_of: Callable[[str], StackOutputs]
) -> None:
    wanted = expected(outputs_of("runai"), "team-a", [2, 3, 5])["jupyter_workspace.closed"]
    assert bool(differences(wanted, {**dict.fromkeys(wanted, "login"), "page": found})) is open_


@pytest.mark.req("V6", "V13")
def test_a_browser_is_asked_only_where_a_token_is_the_lock(outputs_of: Callable[[str], StackOutputs]) -> None:
    assert "jupyter_workspace.page" in expected(outputs_of("kai"), "team-a", [2, 3, 5])
    assert "jupyter_workspace.page" not in expected(outputs_of("runai"), "team-a", [2, 3, 5])


@pytest.fixture
def outputs_of() -> Callable[[str], StackOutputs]:
    def make(driver: str) -> StackOutputs:
        values: Json = {"environment": "t", "context": "c", "profile": "full", "driver": driver}
        values |= {"gpuSharing": True, "departments": [], "projects": [], "namespaces": [], "images": {}}
        return StackOutputs.model_validate(values)

    return make


class Told(Cluster):
    """A cluster whose pods say this."""

    def __init__(self, said: str) -> None:
        self.said, self.asked = said, list[Any]()

    def execute(self, *words: Any, **_: Any) -> str:
        self.asked = list(words)
        return self.said


@pytest.mark.req("V6", "V13")
def test_a_kernel_in_the_pod_is_judged_as_one_from_outside() -> None:
    cells = [{"text": SMI, "error": ""}, {"text": "3\n", "error": ""}]
    told = {"cells": cells, "stopped": 204, "left": [], "withoutToken": 403}
    cluster = Told(f"noise\nKERNEL={json.dumps(told)}\n")
    found = jupyter_inside.kernel(cluster, [POD], "the program", [UUID], [2, 3, 5])
    assert found["jupyter_workspace.gpu"]["sameAsKubelet"] is True
    assert found["jupyter_workspace.computation"] == {"result": "3", "raised": ""}
    assert found["jupyter_workspace.stopped"] == {"status": 204, "left": []}
    # Not the proxy's container, and no token among the arguments.
    namespace, name, command, container, _ = cluster.asked
    assert (namespace, name, container) == ("runai-team-a", "runai-kit-jupyter-0", "runai-kit-jupyter")
    assert command[:3] == ["python3", "-c", "the program"]
    assert command[3] == "8888"


@pytest.mark.req("V6", "V13")
def test_a_pod_that_says_something_else_fails_with_its_words() -> None:
    found = jupyter_inside.kernel(
        Told("a new kernel: expected status 201, found 403"), [POD], "", [], [2, 3, 5]
    )
    assert "expected status 201, found 403" in found["jupyter_workspace.gpu"]["error"]
    assert (
        "no pod" in jupyter_inside.kernel(Told(""), [], "", [], [2, 3, 5])["jupyter_workspace.gpu"]["error"]
    )


@pytest.mark.req("V6", "V13")
def test_a_pod_that_cannot_be_entered_fails_with_the_reason() -> None:
    class Closed(Told):
        def execute(self, *words: Any, **_: Any) -> str:
            raise ClusterError("exec in runai-team-a/runai-kit-jupyter-0 failed: Forbidden", 403)

    found = jupyter_inside.kernel(Closed(""), [POD], "", [], [2, 3, 5])
    assert "Forbidden" in found["jupyter_workspace.stopped"]["error"]
