"""Workloads of the suite in the API's words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.control_plane import document
from tests.contract.control_plane.failures import Told
from validation.runai.choice import choose
from validation.runai.requests import body, refusal, training
from validation.settings import StackOutputs

ITEM: dict[str, Any] = {
    "name": "runai-kit-half-1",
    "role": "half",
    "project": "team-a",
    "queue": "team-a",
    "namespace": "runai-team-a",
    "kind": "training",
    "image": "nvcr.io/nvidia/cuda:1",
    "command": ["bash", "-c", "nvidia-smi -L; sleep 5"],
    "gpuFraction": 0.5,
}


@pytest.mark.req("V13")
@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (
            {"gpuFraction": 0.5},
            {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5},
        ),
        (
            {"gpuMemory": 2048},
            {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "2048Mi"},
        ),
        ({"gpus": 2}, {"gpuDevicesRequest": 2}),
        ({"gpus": 0}, {"gpuDevicesRequest": 0}),
    ],
)
def test_gpus_in_the_apis_words(ask: dict[str, Any], found: dict[str, Any]) -> None:
    item = {key: value for key, value in ITEM.items() if key != "gpuFraction"} | ask
    asked = body(item, "fractional_gpu", "project-id", "cluster-id")
    compute = asked["spec"]["compute"]
    assert {key: value for key, value in compute.items() if key.startswith("gpu")} == found
    assert compute["cpuCoreRequest"] == pytest.approx(0.01)
    answer = {"workloadId": "w", "name": "n", "requestedName": "n", "projectId": "p", "clusterId": "c"}
    answer |= {"createdBy": "x", "createdAt": "t", "desiredPhase": "Running"}
    told = Told("POST", "/api/v1/workloads/trainings", 202, asked, answer)
    assert document.problems(document.load(), [told]) == []


@pytest.mark.req("V13")
def test_labels_by_which_the_suite_finds_its_pods() -> None:
    labels = {i["name"]: i["value"] for i in training(ITEM, "fractional_gpu")["labels"]}
    assert labels["runai-kit.io/test"] == "fractional_gpu"
    assert labels["runai-kit.io/role"] == "half"


@pytest.mark.req("V13")
@pytest.mark.parametrize(
    ("item", "kept"),
    [
        ({}, "preemptible"),
        ({"priorityClass": "build"}, "non-preemptible"),
        ({"kind": "workspace"}, "non-preemptible"),
        ({"kind": "inference"}, "non-preemptible"),
        ({"kind": "workspace", "priorityClass": "train"}, "preemptible"),
    ],
)
def test_kinds_are_preemptible_as_the_product_has_them(item: dict[str, Any], kept: str) -> None:
    assert body(ITEM | item, "t", "p", "c")["spec"]["preemptibility"] == kept


@pytest.mark.req("V13")
def test_what_the_driver_cannot_state_is_refused() -> None:
    assert refusal(ITEM) == ""
    assert refusal(ITEM | {"kind": "workspace"}) == ""
    assert "found retries" in refusal(ITEM | {"kind": "workspace", "retries": 0})
    assert "found gang, nodes" in refusal(ITEM | {"gang": True, "nodes": ["worker1"]})


@pytest.mark.req("V13")
@pytest.mark.parametrize(
    ("wanted", "items", "found"),
    [
        ("runai", [{}], "runai"),
        ("runai", [{"queue": "team-a"}], "runai"),
        ("runai", [{"kind": "inference", "minReplicas": 0}], "runai"),
        ("runai", [{}, {"queue": "runai-kit-reclaim-victim"}], "kai"),
        ("runai", [{"gang": True, "pods": 2}], "kai"),
        ("runai", [{"environmentSecret": "keys"}], "kai"),
        ("kai", [{}], "kai"),
    ],
)
def test_what_the_control_plane_cannot_be_told_goes_to_the_cluster(
    wanted: str, items: list[dict[str, Any]], found: str
) -> None:
    gpu = {"deserved": 2, "limit": 4}
    project = {"name": "team-a", "department": "d", "namespace": "n", "queue": "team-a", "gpu": gpu}
    values: dict[str, Any] = {"environment": "t", "context": "c", "profile": "full", "driver": wanted}
    values |= {"gpuSharing": True, "departments": [], "projects": [project], "namespaces": [], "images": {}}
    bare = {"name": "runai-kit-a", "role": "r", "project": "team-a"}
    assert choose([bare | item for item in items], StackOutputs.model_validate(values), wanted) == found
