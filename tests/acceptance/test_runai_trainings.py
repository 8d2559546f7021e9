"""Trainings through the REST API, which the double turns into real workloads of KAI Scheduler."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from components.runai.client import Client
from components.runai.errors import RefusedError
from components.runai.objects import KINDS
from components.runai.objects.base import present
from tests.contract.conftest import Start, authority, start  # noqa: F401 (fixtures)
from tests.contract.control_plane.options import Options
from validation.settings import StackOutputs

ROOT = Path(__file__).parents[2]
TRAININGS = "/api/v1/workloads/trainings"
SECONDS = 120


@dataclass
class Project:
    """A project of the API whose namespace and queue are those of the stack's project."""

    client: Client
    cluster: str
    id: str
    image: str

    def submit(self, name: str, compute: dict[str, Any]) -> str:
        """Submit a training that says its GPUs and sleeps; returns its id."""
        spec = {
            "image": self.image,
            "command": "bash -c 'nvidia-smi -L; sleep 300'",
            "compute": compute,
            "labels": [{"name": "runai-kit.io/test", "value": "runai-trainings"}],
        }
        body = {"name": name, "projectId": self.id, "clusterId": self.cluster, "spec": spec}
        answer = self.client.post(TRAININGS, body)
        assert answer["actualPhase"] == "Creating"
        return str(answer["workloadId"])

    def reach(self, id_: str, phase: str) -> Any:
        """The workload once it is in a phase. Fails the test when it does not get there."""
        end = time.monotonic() + SECONDS
        while True:
            seen = self.client.get(f"/api/v1/workloads/{id_}")
            if seen["phase"] == phase:
                return seen
            assert time.monotonic() < end, seen
            time.sleep(1)


@pytest.fixture
def project(start: Start, outputs: StackOutputs) -> Iterator[Project]:  # noqa: F811 (the fixture)
    double = start(Options(kubeconfig=ROOT / outputs.kubeconfig, context=outputs.context))
    client = double.client()
    known = next(item for item in outputs.projects if item.name == "team-a")
    wanted = {"name": "live", "domain": "https://live.example.test", "version": "3.0.24"}
    cluster, _ = KINDS["Registration"].create(client, wanted)
    quota = [{"nodePool": "default", "deserved": 2, "limit": 4, "overQuotaWeight": 1}]
    above, _ = KINDS["Department"].create(
        client, {"clusterId": cluster, "name": known.department, "quotas": quota}
    )
    id_, _ = KINDS["Project"].create(
        client,
        {
            "clusterId": cluster,
            "name": known.name,
            "departmentId": above,
            "namespace": known.namespace,
            "quotas": quota,
        },
    )
    yield Project(client, cluster, id_, outputs.images["cuda"])
    listed = list(client.pages("/api/v1/workloads", "workloads"))
    for item in listed:
        client.delete(f"{TRAININGS}/{item['id']}")
    end = time.monotonic() + SECONDS
    while list(client.pages("/api/v1/workloads", "workloads")):
        assert time.monotonic() < end, "workloads are left"
        time.sleep(1)


@pytest.mark.req("V13")
def test_two_halves_share_a_gpu(project: Project, kubectl: Any) -> None:
    half = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}
    ids = []
    # One after the other: KAI 0.12 may give two halves bound in one moment a card each.
    for number in (1, 2):
        ids.append(project.submit(f"runai-kit-rest-half-{number}", half))
        assert project.reach(ids[-1], "Running")["runningPods"] == 1
    pods = [next(project.client.pages(f"/api/v1/workloads/{id_}/pods", "pods")) for id_ in ids]
    # The API tells which pods they are; whether they share a card is for the cluster to say.
    groups = set()
    for pod in pods:
        namespace = "runai-team-a"
        labels = kubectl("get", "pod", pod["name"], "-n", namespace)["metadata"]["labels"]
        groups.add(labels.get("runai-gpu-group") or pod["name"])
    assert len(groups) == 1


@pytest.mark.req("V13")
def test_what_does_not_fit_is_pending_and_says_why(project: Project) -> None:
    id_ = project.submit("runai-kit-rest-many", {"gpuDevicesRequest": 64})
    assert project.reach(id_, "Pending")["phaseMessage"]
    project.client.delete(f"{TRAININGS}/{id_}")
    end = time.monotonic() + SECONDS
    while present(project.client, f"/api/v1/workloads/{id_}") is not None:
        assert time.monotonic() < end, "the workload is still there"
        time.sleep(1)


@pytest.mark.req("V13")
def test_the_old_way_to_ask_for_a_fraction_is_refused(project: Project) -> None:
    with pytest.raises(RefusedError, match="gpuDevicesRequest must be a whole number"):
        project.submit("runai-kit-rest-wrong", {"gpuDevicesRequest": 0.5})
