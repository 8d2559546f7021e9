"""Driver `runai` against the double, whose cluster is played here; on a live one: tests/acceptance."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from components.runai.client import Client
from components.runai.objects import KINDS
from policy.pod_security import required_level
from tests.contract.conftest import Double
from tests.contract.control_plane.behind import job, phase
from validation.runai import driver
from validation.settings import ControlPlane, OutputsError, StackOutputs

QUOTA = [{"nodePool": "default", "deserved": 2, "limit": -1, "overQuotaWeight": 1}]


class Played:
    """A cluster that runs what it is given; removed pods stay for one look, as ending pods do."""

    def __init__(self) -> None:
        self.jobs: dict[str, Any] = {}
        self.ending: set[str] = set()

    def submit(self, workload: Any) -> None:
        self.jobs[workload["id"]] = job(workload)

    def remove(self, workload: Any) -> None:
        self.ending.add(workload["id"])

    def pods(self, workload: Any) -> list[Any]:
        id_ = workload["id"]
        if id_ not in self.jobs:
            return []
        if id_ in self.ending:
            del self.jobs[id_]
        return [pod("Running")]


def pod(state: str, scheduled: str = "True", message: str = "") -> Any:
    condition = SimpleNamespace(type="PodScheduled", status=scheduled, message=message, reason="")
    return SimpleNamespace(
        metadata=SimpleNamespace(name="p", uid="u", creation_timestamp=datetime.now(UTC)),
        spec=SimpleNamespace(node_name="worker1", containers=[SimpleNamespace(name="main", image="i")]),
        status=SimpleNamespace(phase=state, conditions=[condition]),
    )


def item(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "role": "half",
        "project": "team-a",
        "namespace": "runai-team-a",
        "queue": "team-a",
        "kind": "training",
        "image": "registry.test/cuda:1",
        "command": ["bash", "-c", "nvidia-smi -L; sleep 5"],
        "gpuFraction": 0.5,
        **changes,
    }


def told(place: ControlPlane) -> StackOutputs:
    """Outputs of a stack with this control plane and nothing else."""
    values: dict[str, Any] = {"environment": "t", "context": "c", "profile": "full", "driver": "runai"}
    values |= {"gpuSharing": True, "departments": [], "projects": [], "namespaces": [], "images": {}}
    return StackOutputs.model_validate(values | {"controlPlane": place.model_dump()})


@pytest.fixture
def played(double: Double) -> Played:
    cluster = Played()
    double.running.state.cluster = cluster  # type: ignore[assignment]
    return cluster


@pytest.fixture
def outputs(double: Double, monkeypatch: pytest.MonkeyPatch) -> StackOutputs:
    """Outputs that name the double, and a service account in the environment."""
    client = double.client()
    wanted = {"name": "gpu-1", "domain": "https://gpu-1.test", "version": "3.0.24"}
    cluster, _ = KINDS["Registration"].create(client, wanted)
    above, _ = KINDS["Department"].create(
        client, {"clusterId": cluster, "name": "engineering", "quotas": QUOTA}
    )
    project = {"clusterId": cluster, "name": "team-a", "departmentId": above, "namespace": "runai-team-a"}
    KINDS["Project"].create(client, {**project, "quotas": QUOTA})
    id_, account = KINDS["ServiceAccount"].create(client, {"name": "suite", "enabled": True})
    rule = {"subject": id_, "subjectType": "service-account", "role": "L1 researcher"}
    scope = {"scopeType": "cluster", "scopeId": cluster, "clusterId": cluster}
    KINDS["AccessRule"].create(client, {**rule, **scope})
    monkeypatch.setenv(driver.CLIENT_ID, account["clientId"])
    monkeypatch.setenv(driver.CLIENT_SECRET, account["clientSecret"])
    place = ControlPlane(url=double.access.url, ca=double.access.ca, clusterId=cluster)
    return told(place)


@pytest.mark.req("V13")
def test_workloads_are_submitted_seen_and_removed(outputs: StackOutputs, played: Played) -> None:
    client = driver.connect(outputs)
    items = [item(f"runai-kit-half-{number}") for number in (1, 2, 3)]
    ids = driver.submit(client, outputs, "fractional_gpu", items)
    assert list(played.jobs) == ids
    made = played.jobs[ids[0]]
    assert made["metadata"]["labels"]["runai-kit.io/test"] == "fractional_gpu"
    template = made["spec"]["template"]
    assert template["metadata"]["annotations"]["gpu-fraction"] == "0.5"
    assert template["metadata"]["labels"]["kai.scheduler/queue"] == "team-a"
    assert template["spec"]["containers"][0]["command"] == items[0]["command"]
    assert required_level(template["spec"]) == ("restricted", [])
    seen = client.get(f"/api/v1/workloads/{ids[0]}")
    assert (seen["phase"], seen["runningPods"], seen["projectName"]) == ("Running", 1, "team-a")
    assert [p["nodeName"] for p in client.pages(f"/api/v1/workloads/{ids[0]}/pods", "pods")] == ["worker1"]
    removed, left = driver.remove(client, outputs, 10)
    assert (sorted(removed), left) == (sorted(i["name"] for i in items), [])
    assert played.jobs == {}


@pytest.mark.req("V13")
def test_nothing_is_submitted_when_one_cannot_be_stated(outputs: StackOutputs, played: Played) -> None:
    client = driver.connect(outputs)
    with pytest.raises(ValueError, match="driver runai states trainings"):
        driver.submit(client, outputs, "t", [item("runai-kit-a"), item("runai-kit-b", kind="workspace")])
    with pytest.raises(ValueError, match="projects nobody: not in the control plane, which has team-a"):
        driver.submit(client, outputs, "t", [item("runai-kit-a"), item("runai-kit-b", project="nobody")])
    assert played.jobs == {}


@pytest.mark.req("V13")
def test_what_is_missing_is_named(outputs: StackOutputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(driver.CLIENT_SECRET)
    with pytest.raises(OutputsError, match="KIT_RUNAI_CLIENT_SECRET are not both set"):
        driver.connect(outputs)
    with pytest.raises(OutputsError, match="name no control plane"):
        driver.connect(told(ControlPlane()))


@pytest.mark.req("V13")
def test_without_a_cluster_behind_it_the_double_says_so(double: Double, outputs: StackOutputs) -> None:
    client: Client = double.client()
    with pytest.raises(Exception, match="503 no cluster behind this double"):
        driver.submit(client, outputs, "t", [item("runai-kit-a")])


@pytest.mark.req("V13")
@pytest.mark.parametrize(
    ("pods", "found"),
    [
        ([], ("Creating", "")),
        ([pod("Pending", "False", "no GPU left")], ("Pending", "no GPU left")),
        ([pod("Pending")], ("Initializing", "")),
        ([pod("Running"), pod("Pending")], ("Running", "")),
        ([pod("Succeeded")], ("Completed", "")),
        ([pod("Succeeded"), pod("Failed")], ("Failed", "")),
    ],
)
def test_phases_are_those_of_the_pods(pods: list[Any], found: tuple[str, str]) -> None:
    assert phase(pods) == found
