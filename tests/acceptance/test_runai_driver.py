"""The suite's own tests through driver `runai`: a double of the API, and KAI and kubelets behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from components.runai.objects import KINDS
from tests.acceptance.changing import exists, when
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_inference import OTHER_SERVER
from tests.acceptance.test_wrong_on_purpose import in_background, patch
from tests.acceptance.varied import play
from tests.contract import teams
from tests.contract.conftest import Double, Start, authority, start  # noqa: F401 (fixtures)
from tests.contract.control_plane.options import Options
from validation.runai import driver
from validation.runai.page import NAME as WORDS
from validation.settings import ControlPlane, StackOutputs

ROOT = Path(__file__).parents[2]
Json = dict[str, Any]
# The suite's five tests of the guide, and what each shows that the API does not.
TESTS = ["fractional_gpu", "over_quota", "vllm_inference", "jupyter_workspace", "mnist_training"]
ANSWERS = {"models", "chat", "tokens", "stream", "wrong_model", "load"}


@pytest.fixture
def double(start: Start, outputs: StackOutputs) -> Double:  # noqa: F811 (the fixture)
    """The control plane, with the stack's cluster behind it."""
    return start(Options(kubeconfig=ROOT / outputs.kubeconfig, context=outputs.context))


@pytest.fixture
def runai(
    double: Double,
    outputs: StackOutputs,
    unchanged: None,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[StackOutputs]:
    """The stack's outputs as those of a full profile whose control plane is the double."""
    client = double.client()
    domain = f"https://{outputs.workspaces.domain}"
    cluster, _ = KINDS["Registration"].create(client, {"name": "live", "domain": domain, "version": "3.0.24"})
    teams.make(client, cluster, outputs)
    id_, account = KINDS["ServiceAccount"].create(client, {"name": "suite", "enabled": True})
    rule = {"subject": id_, "subjectType": "service-account", "role": "L1 researcher"}
    KINDS["AccessRule"].create(
        client, {**rule, "scopeType": "cluster", "scopeId": cluster, "clusterId": cluster}
    )
    monkeypatch.setenv(driver.CLIENT_ID, account["clientId"])
    monkeypatch.setenv(driver.CLIENT_SECRET, account["clientSecret"])
    place = ControlPlane(
        url=double.access.url, ca=double.access.ca, version="3.0.24", clusterName="live", clusterId=cluster
    )
    told = outputs.model_copy(update={"driver": "runai", "controlPlane": place})
    yield told
    # As the suite left it: nothing is stated there any more.
    assert list(driver.own(client, told)) == []


def tells_otherwise(double: Double, name: str, part: str, **wrong: Any) -> Callable[[threading.Event], None]:
    """Work beside a play: the control plane believes something else of a workload that it accepted."""

    def accepted() -> list[Json]:
        return [item for item in list(double.running.state.workloads.values()) if item["name"] == name]

    return lambda stop: when(stop, accepted, lambda found: found[0]["spec"][part].update(wrong))


@pytest.mark.req("V13", "V2", "V3", "V5", "V6", "V7")
@pytest.mark.parametrize("test", TESTS)
def test_a_test_of_the_suite_passes_through_the_api(test: str, runai: StackOutputs, tmp_path: Path) -> None:
    failed, checks = play(test, runai, tmp_path, {})
    assert failed == set(), {name: checks[name]["reason"] for name in failed}
    # Where a login of people stands before it, no browser is sent to the workspace.
    na = {name for name, check in checks.items() if check["verdict"] == "na"}
    assert na == ({"page"} if test == "jupyter_workspace" else set())
    assert {check["verdict"] for name, check in checks.items() if name not in na} == {"pass"}
    (words,) = [tmp_path / "report" / name for name in checks["control_plane"]["evidence"]]
    assert words.name == WORDS
    assert "runai login user" in words.read_text()


@pytest.mark.req("V13")
@pytest.mark.negative("fractional_gpu.control_plane")
def test_a_workload_that_somebody_removes_in_the_control_plane_is_missed(
    runai: StackOutputs, tmp_path: Path
) -> None:
    client = driver.connect(runai)

    def second() -> list[Json]:
        listed = driver.own(client, runai, "fractional_gpu")
        return [w for w in listed if w["name"].endswith("-2") and w["phase"] == "Running"]

    def remove(found: list[Json]) -> None:
        client.delete(f"/api/v1/workloads/trainings/{found[0]['id']}")

    with in_background(lambda stop: when(stop, second, remove)):
        failed, checks = play("fractional_gpu", runai, tmp_path, {}, timeoutSeconds=30)
    assert "control_plane" in failed
    assert "runai-kit-half-2" in checks["control_plane"]["reason"]
    assert checks["cleanup"]["verdict"] == "pass"


@pytest.mark.req("V13", "V3")
@pytest.mark.negative("over_quota.control_plane")
def test_a_control_plane_that_counts_other_gpus_than_run_is_found_out(
    double: Double, runai: StackOutputs, tmp_path: Path
) -> None:
    name = "runai-kit-fairshare-b-1"
    with in_background(tells_otherwise(double, name, "compute", gpuDevicesRequest=2)):
        failed, checks = play("over_quota", runai, tmp_path, {})
    assert failed == {"control_plane"}
    assert f"{name}.gpus: expected 1, found 2" in checks["control_plane"]["reason"]


@pytest.mark.req("V13", "V5")
@pytest.mark.negative(
    "vllm_inference.control_plane",
    "vllm_inference.models",
    "vllm_inference.chat",
    "vllm_inference.tokens",
    "vllm_inference.stream",
    "vllm_inference.wrong_model",
    "vllm_inference.load",
)
def test_an_inference_that_is_another_server_and_scales_otherwise_is_found_out(
    double: Double, runai: StackOutputs, tmp_path: Path
) -> None:
    bounds = {"inference": {**runai.validation.inference.model_dump(), "minReplicas": 1}}
    variables = {"vllm_inference_command": ["python3", "-c", OTHER_SERVER]}
    with in_background(tells_otherwise(double, "runai-kit-llm", "autoscaling", maxReplicas=3)):
        failed, checks = play("vllm_inference", runai, tmp_path, variables, **bounds)
    # With a replica kept, what needs none cannot be looked at, and nobody declared that.
    assert failed == ANSWERS | {"control_plane", "scale_to_zero", "cold_start"}
    assert "no JSON: 'Welcome'" in checks["models"]["reason"]
    assert "pods: expected 1/1-1, found 1/1-3" in checks["control_plane"]["reason"]
    for good in ("ready", "scheduled", "cleanup"):
        assert checks[good]["verdict"] == "pass"


@pytest.mark.req("V13", "V6")
@pytest.mark.negative(
    "jupyter_workspace.address", "jupyter_workspace.closed", "jupyter_workspace.control_plane"
)
def test_a_workspace_that_can_be_reached_past_its_login_and_is_counted_wrong_fails(
    kubectl: Kubectl, double: Double, runai: StackOutputs, tmp_path: Path
) -> None:
    where = ("-n", runai.projects[0].namespace)
    name = "runai-kit-jupyter"

    def past(_: Any) -> None:
        ports = [{"name": "http", "port": 80, "targetPort": 8888}]
        patch(kubectl, "service", name, {"spec": {"ports": ports}}, *where)

    def work(stop: threading.Event) -> None:
        when(stop, exists(kubectl, "services", name, *where), past)

    with in_background(work), in_background(tells_otherwise(double, name, "compute", gpuDevicesRequest=2)):
        failed, checks = play("jupyter_workspace", runai, tmp_path, {}, timeoutSeconds=20)
    assert failed == {"address", "closed", "control_plane"}
    assert "gpus: expected 1, found 2" in checks["control_plane"]["reason"]
    assert "leadsTo" in checks["address"]["reason"]
    assert checks["cleanup"]["verdict"] == "pass"


@pytest.mark.req("V13", "V7")
@pytest.mark.negative("mnist_training.control_plane", "mnist_training.completed")
def test_a_training_that_fails_is_failed_in_the_control_plane(runai: StackOutputs, tmp_path: Path) -> None:
    # A home without Python's library: the program does not even begin.
    variables = {"mnist_training_environment": {"PYTHONHOME": "/nowhere"}}
    failed, checks = play("mnist_training", runai, tmp_path, variables)
    assert {"control_plane", "completed"} <= failed
    assert "Failed" in checks["control_plane"]["reason"]
    assert checks["cleanup"]["verdict"] == "pass"


@pytest.mark.req("V13")
@pytest.mark.negative("preflight.leftovers")
def test_without_a_service_account_nothing_is_begun_and_the_variables_are_named(
    runai: StackOutputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.delenv(driver.CLIENT_SECRET)
        _, checks = play("fractional_gpu", runai, tmp_path, {"kit_preflight_of": ""})
    # Nobody could look for what an earlier run left in the control plane.
    assert {check["verdict"] for check in checks.values()} == {"skip"}
    assert driver.CLIENT_SECRET in checks["running"]["reason"]
