"""I12: the Jobs that stream weights, and what their logs tell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.validation.double import OUTPUTS, Double, pod
from validation import model_streamer, names
from validation.compare import differences
from validation.expect.model_streamer import expected
from validation.observe import model_streamer as observed
from validation.settings import OutputsError, StackOutputs, load

Json = dict[str, Any]
TEST = "model_streamer"
RESULT: Json = {
    "openStatus": 403,
    "tensors": 39,
    "streamedTensors": 39,
    "bytes": 90_000_000,
    "streamedBytes": 90_000_000,
    "different": [],
    "plainSeconds": 0.1,
    "streamedSeconds": 0.05,
    "plainMBps": 900.0,
    "streamedMBps": 1800.0,
}


def outputs(model: str = "/models/tiny-chat", **images: str) -> StackOutputs:
    bounds = {**OUTPUTS["validation"], "inference": {"server": "transformers", "model": model}}
    return load({**OUTPUTS, "validation": bounds, "images": {**OUTPUTS["images"], **images}})


@pytest.mark.req("I12")
def test_both_jobs_read_the_same_file_and_only_one_holds_the_keys() -> None:
    plan = model_streamer.plan(outputs(), "print()")
    plain = "/models/tiny-chat/model.safetensors"
    assert plan.volume["command"][-4:] == ["--plain", plain, "--streamed", plain]
    command = plan.s3["command"]
    assert command[command.index("--streamed") + 1] == "s3://models/tiny-chat/model.safetensors"
    assert command[-1] == "http://runai-kit-s3.runai-team-a.svc:7070/models/tiny-chat/model.safetensors"
    assert plan.s3["environment"]["AWS_ENDPOINT_URL"] == "http://runai-kit-s3.runai-team-a.svc:7070"
    assert (plan.s3["environmentSecret"], "environmentSecret" in plan.volume) == ("runai-kit-s3-keys", False)
    assert {job["gpus"] for job in (plan.volume, plan.s3)} == {0}
    assert plan.volume["files"] == {"stream.py": "print()"}


@pytest.mark.req("I12")
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (outputs(s3=""), "images.s3 is empty"),
        (outputs(seed=""), "images.seed is empty"),
        (outputs(model="Qwen/Qwen3-0.6B"), "found Qwen/Qwen3-0.6B, expected a path below /models/"),
    ],
)
def test_what_is_missing_is_named(given: StackOutputs, wanted: str) -> None:
    with pytest.raises(OutputsError, match=wanted):
        model_streamer.plan(given, "")


def told(**changes: Any) -> Json:
    """What the checks see of two Jobs, the second of which told something else."""
    made = Double()
    for role, result in (("volume", RESULT), ("client", {**RESULT, **changes})):
        made.add(names.PODS, pod(f"runai-kit-{role}", test=TEST, role=role, phase="Succeeded"))
        made.said[f"runai-kit-{role}"] = f"a warning\nRESULT={json.dumps(result)}\n"
    return observed.observe(made.at())


def faults(found: Json) -> set[str]:
    return {check for check, seen in found.items() if "error" in seen or differences(expected()[check], seen)}


@pytest.mark.req("I12")
def test_equal_tensors_pass_and_rates_are_only_told() -> None:
    found = told()
    assert faults(found) == set()
    assert found["model_streamer.volume"]["ratio"] == 2
    assert faults(told(streamedMBps=1.0)) == set()


@pytest.mark.req("I12")
@pytest.mark.parametrize(
    ("changes", "failed"),
    [
        ({"different": ["lm_head.weight"]}, {"model_streamer.s3"}),
        ({"streamedTensors": 38}, {"model_streamer.s3"}),
        ({"tensors": 0, "streamedTensors": 0}, {"model_streamer.s3"}),
        ({"bytes": 1000}, {"model_streamer.s3"}),
        ({"openStatus": 200}, {"model_streamer.refused"}),
    ],
)
def test_each_fault_fails_its_check(changes: Json, failed: set[str]) -> None:
    assert faults(told(**changes)) == failed


@pytest.mark.req("I12")
def test_a_job_without_a_result_shows_the_end_of_its_log() -> None:
    made = Double().add(names.PODS, pod("runai-kit-volume", test=TEST, role="volume", phase="Failed"))
    made.said["runai-kit-volume"] = "Traceback\nSafetensorError: incomplete metadata"
    found = observed.observe(made.at())
    error = found["model_streamer.volume"]["error"]
    assert error.endswith("is Failed and told no result: Traceback SafetensorError: incomplete metadata")
    assert "no pod of role client" in found["model_streamer.refused"]["error"]
