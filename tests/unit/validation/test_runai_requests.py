"""Workloads of the suite in the API's words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.control_plane import document
from tests.contract.control_plane.failures import Told
from validation.runai.requests import body, refusal, training

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
