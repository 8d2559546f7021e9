"""V9: coexistence: observations against expectations, right and wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.validation.beds import TWO, Json, workers
from tests.unit.validation.double import pod
from validation import names
from validation.compare import differences
from validation.expect import coexistence as expect_coexistence
from validation.observe import coexistence


def plain(role: str, number: int, **more: Any) -> Json:
    one = pod(
        f"runai-kit-coexistence-{role}-{number}",
        expect_coexistence.NAMESPACE,
        test="coexistence",
        role=role,
        labels=more.pop("labels", {}),
    )
    one["metadata"]["annotations"] = more.pop("annotations", {"cni.example.org/podIP": "10.0.0.1"})
    one["spec"]["schedulerName"] = "default-scheduler"
    one["spec"].update(more)
    return one


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ({}, []),
        ({"annotations": {"pod-group-name": "pg-x"}}, ["pod-group-name"]),
        ({"labels": {"kai.scheduler/queue": "x"}}, ["kai.scheduler/queue"]),
        ({"runtimeClassName": "nvidia"}, ["runtimeClassName=nvidia"]),
    ],
)
def test_marks_of_kai_on_plain_pods_are_told(mark: Json, told: list[str]) -> None:
    cluster = workers(4).add(names.PODS, plain("before", 1), plain("before", 2), plain("after", 1, **mark))
    cluster.add(names.PODS, plain("after", 2))
    at = cluster.at()
    before = {name: uid for name, uid in coexistence.uids(at).items() if "before" in name}
    found = coexistence.observe(at, before)
    wanted = expect_coexistence.expected(expect_coexistence.plan(TWO))
    assert differences(wanted["coexistence.run"], found["coexistence.run"]) == []
    marks = found["coexistence.untouched"]["added"]
    assert marks == ({f"{expect_coexistence.NAMESPACE}/runai-kit-coexistence-after-1": told} if told else {})
    faults = differences(wanted["coexistence.untouched"], found["coexistence.untouched"])
    assert bool(faults) is bool(told)


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("said", "devices", "asked"),
    [
        ("bash: line 1: nvidia-smi: command not found\nasked\n", 0, 1),
        ("/dev/nvidia0\n/dev/nvidiactl\nGPU 0: NVIDIA A100 (UUID: GPU-1)\nasked\n", 3, 1),
        # A probe that did not come to its end has seen nothing.
        ("bash: line 1: nvi", 0, 0),
    ],
)
def test_a_pod_without_a_gpu_finds_none(said: str, devices: int, asked: int) -> None:
    cluster = workers(4).add(names.PODS, plain("before", 1), plain("after", 1))
    cluster.said["runai-kit-coexistence-after-1"] = said
    found = coexistence.observe(cluster.at(), {})["coexistence.no_device"]
    # The other pod cannot be asked at all.
    assert found["asked"] == asked
    assert sum(map(len, found["devices"].values())) == devices


@pytest.mark.req("V9")
def test_a_plain_pod_that_was_replaced_or_does_not_start_is_a_fail() -> None:
    cluster = workers(4).add(names.PODS, plain("before", 1), plain("before", 2), plain("after", 1))
    found = coexistence.observe(cluster.at(), {"other": "uid"})
    wanted = expect_coexistence.expected(expect_coexistence.plan(TWO))["coexistence.run"]
    faults = {f.partition(":")[0] for f in differences(wanted, found["coexistence.run"])}
    assert faults == {"whileFull", "samePods", "onGpuNodes"}


@pytest.mark.req("V9")
def test_plain_pods_beside_no_gpu_show_nothing() -> None:
    """No device can be found where there is none."""
    cluster = workers(4)
    for role in ("before", "after"):
        for number in (1, 2):
            one = plain(role, number)
            one["spec"]["nodeName"] = "cpu-1"
            cluster.add(names.PODS, one)
    at = cluster.at()
    found = coexistence.observe(at, {k: v for k, v in coexistence.uids(at).items() if "before" in k})
    wanted = expect_coexistence.expected(expect_coexistence.plan(TWO))["coexistence.run"]
    assert differences(wanted, found["coexistence.run"]) == ["onGpuNodes: expected 4, found 0"]
