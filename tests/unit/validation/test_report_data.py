"""What the report says of an installation: computed from outputs and cluster, never written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.validation import runs
from tests.unit.validation.double import Double
from validation import declared, support_table
from validation import wording as texts
from validation.cluster import ClusterError
from validation.judge import close
from validation.report import conditions, facts
from validation.report.aggregate import aggregate
from validation.report.deviations import deviations, fits, wording
from validation.report.model import load, proof, worst
from validation.report.unreal import unreal

pytestmark = pytest.mark.req("V12")
Json = dict[str, Any]


@pytest.mark.parametrize(
    ("found", "said", "inside"),
    [
        ("1.34.11", {"min": "1.33", "max": "1.35"}, True),
        ("1.35.9", {"min": "1.33", "max": "1.35"}, True),
        ("v1.36.0", {"min": "1.33", "max": "1.35"}, False),
        ("1.9.0", {"min": "1.33", "max": "1.35"}, False),
        ("0.12.0", {"min": "0.18", "max": "0.18"}, False),
        ("0.18.6", {"min": "0.18", "max": "0.18"}, True),
        ("3.10.0", {"min": "3.13.1"}, False),
        ("3.13.1+vendor", {"min": "3.13.1"}, True),
        ("unknown", {"min": "1"}, False),
        ("vgpu", {"oneOf": ["passthrough"]}, False),
        ("passthrough", {"oneOf": ["passthrough"]}, True),
    ],
)
def test_versions_are_held_against_bounds_to_their_digits(found: str, said: Json, inside: bool) -> None:
    assert fits(found, said) is inside
    assert bool(deviations({"part": found}, {"part": said})) is not inside


def test_statements_read_as_words() -> None:
    assert wording({"min": "1.33", "max": "1.35"}) == "1.33 to 1.35"
    assert wording({"min": "0.18", "max": "0.18"}) == "0.18.x"
    assert wording({"min": "3.13.1"}) == "3.13.1 or newer"
    assert wording({"oneOf": ["a", "b"]}) == "a or b"
    assert wording({"oneOf": ["a"], "words": "something else"}) == "something else"


def test_an_installation_within_the_statements_deviates_in_nothing(tmp_path: Path) -> None:
    parts = [{"name": "kai-scheduler", "version": "0.18.6", "provenance": "upstream"}]
    good = aggregate(runs.started(tmp_path, components=parts), {})
    assert good.deviations == []
    cluster = {**runs.CLUSTER, "kubernetes": "1.29.0", "gpuMode": "vgpu"}
    bad = aggregate(runs.started(tmp_path, cluster), {})
    assert {d["part"]: d["found"] for d in bad.deviations} == {
        "kubernetes": "1.29.0",
        "kai-scheduler": "0.12.0",
        "gpu-mode": "vgpu",
    }
    assert all(d["source"] and d["expected"] for d in bad.deviations)


@pytest.mark.parametrize(
    ("changed", "mode", "wanted"),
    [
        (
            {"clusterKind": "vks", "fakeGpus": {"enabled": False}},
            "passthrough",
            {"vcf-operations-switch", "vks-packages"},
        ),
        ({"clusterKind": "vks", "fakeGpus": {"enabled": False}}, "vgpu", {"vgpu-licence", "vgpu-support"}),
        ({"clusterKind": "local"}, "passthrough", {"real-gpus"}),
    ],
)
def test_manual_steps_are_those_of_the_installation(
    tmp_path: Path, changed: Json, mode: str, wanted: set[str]
) -> None:
    report = aggregate(runs.started(tmp_path, {**runs.CLUSTER, "gpuMode": mode}, **changed), {})
    steps = {step["id"]: step for step in report.manual_steps}
    assert wanted <= set(steps)
    assert ("real-gpus" in steps) is report.fake_gpus
    assert ("vcf-operations-switch" in steps) is (changed["clusterKind"] == "vks")
    assert all(step["step"] and step["check"] and step["requirement"] for step in steps.values())


@pytest.mark.parametrize("name", ["manual_steps", "stand_ins"])
def test_every_condition_of_a_table_can_be_met(name: str) -> None:
    assert conditions.table(name)
    for entry in conditions.table(name):
        assert set(entry["where"]) <= set(conditions.facts({}))


def test_a_condition_that_nothing_can_meet_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd.yml").write_text("- {what: x, where: {colour: red}}")
    monkeypatch.setattr(conditions, "TABLES", tmp_path)
    with pytest.raises(
        ValueError, match=r"odd\.yml: found the condition colour; expected some of clusterKind"
    ):
        conditions.table("odd")


def test_what_was_not_real_is_told_and_only_that(tmp_path: Path) -> None:
    told = " ".join(aggregate(runs.started(tmp_path), {}).not_real)
    assert "GPUs are fake" in told
    assert "fake-gpu 0.1.0" in told
    assert "1 of 2 installed parts" in told
    real: Json = {
        "clusterKind": "vks",
        "fakeGpus": {"enabled": False},
        "components": [{"name": "kai-scheduler", "version": "0.18.6", "provenance": "upstream"}],
        "images": {"cuda": "nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04", "seed": ""},
        "inference": {"enabled": True},
        "ingress": {"enabled": True, "source": "controller"},
        "tls": {"ca": ""},
        "validation": {"inference": {"server": "vllm"}},
    }
    assert aggregate(runs.started(tmp_path, **real), {}).not_real == []
    assert unreal({"components": [], "images": {"seed": "kind.local/seed:1", "cuda": "nvcr.io/x:1"}}) == [
        "Workload images that the kit made: seed."
    ]


def test_facts_come_from_the_cluster_and_their_absence_stops_nothing() -> None:
    label = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
    info = {"osImage": "Debian", "containerRuntimeVersion": "containerd://2"}
    double = Double().add(
        "/api/v1/nodes",
        {"metadata": {"name": "cp"}, "status": {"nodeInfo": info}},
        {
            "metadata": {"name": "w", "labels": label},
            "status": {"allocatable": {"nvidia.com/gpu": "4"}, "nodeInfo": {**info, "osImage": "Ubuntu"}},
        },
    )
    double.single = {
        "/version": {"gitVersion": "v1.34.11"},
        "/api/v1/namespaces/kube-system": {"metadata": {"uid": "aaaa"}},
        "/apis": {"groups": [{"name": "apps"}, {"name": "gateway.networking.k8s.io"}]},
    }
    found = facts.observe(double.cluster)
    assert found["kubernetes"] == "1.34.11"
    assert found["uid"] == "aaaa"
    assert found["gpuNodes"] == {"w": {"gpus": 4, "product": "NVIDIA-A100-SXM4-80GB"}}
    assert (found["gpuMode"], found["runtime"]) == ("passthrough", "containerd://2")
    assert found["system"] == "1 x Debian, 1 x Ubuntu"
    assert "gateway.networking.k8s.io" in found["apiGroups"]

    def gone(path: str, **_params: Any) -> Json:
        raise ClusterError(f"GET {path}: connection refused")

    double.items = gone  # type: ignore[assignment]
    assert facts.observe(double.cluster) == {"error": "GET /api/v1/nodes: connection refused"}


def test_a_test_lasts_from_its_first_check_to_its_last(tmp_path: Path) -> None:
    records = runs.started(tmp_path)
    runs.everything(records, but={"reclaim": "na", "over_quota": "skip"})
    tests = {t.name: t for t in aggregate(records, {}).tests}
    assert list(tests) == list(declared.tests())
    assert tests["fractional_gpu"].ended - tests["fractional_gpu"].begun >= 1.5
    assert tests["reclaim"].ended == tests["over_quota"].ended == 0.0


def test_a_test_that_crashed_proves_nothing_and_has_its_time(tmp_path: Path) -> None:
    records = runs.started(tmp_path)
    runs.everything(records)
    for check in declared.tests()["reclaim"].checks:
        (records.checks / f"{check.id}.json").unlink()
    records.mark("reclaim")
    close(records, "reclaim", "fail", "did not run: boom")
    report = aggregate(records, {})
    assert (worst(report.of("reclaim")), proof(report.of("reclaim"))) == ("fail", "assumed")
    assert next(t for t in report.tests if t.name == "reclaim").ended


def test_a_report_of_an_earlier_version_is_still_read(tmp_path: Path) -> None:
    records = runs.started(tmp_path)
    runs.everything(records)
    data = json.loads(json.dumps(aggregate(records, {}).as_dict()))
    assert load(data) == aggregate(records, {})
    for added in ("installation", "tests", "deviations", "manualSteps", "notReal"):
        del data[added]
    old = load(data)
    assert (old.tests, old.deviations, old.installation) == ([], [], {})
    assert old.exit_code == 0
    assert "| V2 |" in support_table.table(old)


def test_the_support_table_counts_by_proof(tmp_path: Path) -> None:
    records = runs.started(tmp_path)
    runs.everything(records, but={"fractional_gpu.uuid": "skip"})
    text = support_table.table(aggregate(records, {}))
    assert f"| V2 | {texts.wording()['V2']} | 5 |  | 1 | skip |" in text
    assert "kai-scheduler 0.12.0 (recommended: 0.18.x)" in text
    assert "GPUs: fake." in text


def test_a_test_begins_when_it_is_opened_not_with_its_first_check(tmp_path: Path) -> None:
    """What is prepared before the first check takes its time, too: claims, models."""
    records = runs.started(tmp_path)
    records.open("reclaim")
    opened = records.opened("reclaim")
    records.record("reclaim.fill", "pass", 0.0, 1, 1)
    (run,) = [test for test in aggregate(records, {}).tests if test.name == "reclaim"]
    assert abs(run.begun - opened) < 0.01
    assert records.opened("gang") == 0
