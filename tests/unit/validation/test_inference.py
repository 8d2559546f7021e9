"""V5: the plan, the expectations, and what is seen of a Knative Service and its pods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.validation.double import OUTPUTS, Double, group, pod, queue, thing
from tests.unit.validation.openai import MODEL, Model
from tests.unit.validation.test_observe_preflight import bed
from tests.unit.validation.tls import HOST, served
from validation import cleanup, gate, inference_server, names
from validation.compare import differences
from validation.expect import vllm_inference as expect
from validation.foreign import foreign_ca
from validation.ingress import Ingress
from validation.observe import knative, preflight, vllm_inference
from validation.settings import OutputsError, StackOutputs, load

Json = dict[str, Any]
TEST = "vllm_inference"


def outputs(wanted: Json | None = None, **more: Any) -> StackOutputs:
    """Stack outputs with another inference test."""
    bounds = {**OUTPUTS["validation"]}
    bounds["inference"] = {"server": "transformers", "model": MODEL, "minReplicas": 0, **(wanted or {})}
    return load({**OUTPUTS, "validation": bounds, **more})


@pytest.mark.req("V5")
def test_the_last_project_that_may_hold_a_gpu_serves_the_seeded_model() -> None:
    plan = inference_server.plan(outputs())
    assert (plan.project, plan.namespace, plan.queue) == ("test", "runai-test", "test")
    assert (plan.source, plan.claim) == ("seed", "runai-kit-models")
    item = plan.item
    assert item["command"][:3] == ["transformers", "serve", MODEL]
    assert item["pvcs"] == [{"name": "runai-kit-models", "path": "/models"}]
    assert (item["minReplicas"], item["maxReplicas"], item["gpus"]) == (0, 1, 1)
    assert item["environment"]["HF_HUB_OFFLINE"] == "1"
    assert inference_server.plan(outputs(), "team-a").namespace == "runai-team-a"


@pytest.mark.req("V5")
def test_vllm_with_an_existing_claim_or_the_models_name() -> None:
    wanted = {"server": "vllm", "model": "/models/qwen3", "pvc": "models", "minReplicas": 2}
    plan = inference_server.plan(outputs({**wanted, "loadFormat": "runai_streamer"}))
    assert (plan.source, plan.claim, plan.item["maxReplicas"]) == ("claim", "models", 2)
    assert plan.item["command"][:3] == ["vllm", "serve", "/models/qwen3"]
    assert plan.item["command"][-2:] == ["--load-format", "runai_streamer"]
    assert plan.item["labels"] == {"runai-kit.io/metrics": "server"}
    plan = inference_server.plan(outputs({"server": "vllm", "model": "Qwen/Qwen3-0.6B"}))
    assert (plan.source, plan.claim, "pvcs" in plan.item) == ("hub", "", False)
    assert "HF_HUB_OFFLINE" not in plan.item["environment"]
    assert "--load-format" not in plan.item["command"]


@pytest.mark.req("V5")
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (outputs(inference={"enabled": False}), r"knative.enabled"),
        (outputs(ingress={"enabled": False}), r"ingress.enabled"),
        (outputs({"model": "/data/m"}), r"path /data/m without a claim"),
        (outputs(images={"cuda": "c", "inference": "", "seed": "s"}), r"images.inference is empty"),
        (
            outputs(
                projects=[
                    {
                        "name": "a",
                        "department": "engineering",
                        "namespace": "runai-a",
                        "queue": "a",
                        "gpu": {"deserved": 0, "limit": 2},
                    }
                ]
            ),
            r"no project deserves 1 GPU",
        ),
    ],
)
def test_what_cannot_be_deployed_says_which_setting(given: StackOutputs, wanted: str) -> None:
    with pytest.raises(OutputsError, match=wanted):
        inference_server.plan(given)


@pytest.mark.req("V5")
def test_expectations_follow_server_and_replicas() -> None:
    given = outputs()
    made = expect.expected(given, inference_server.plan(given))
    assert made["vllm_inference.wrong_model"]["status"] == 400
    assert made["vllm_inference.stream"]["done"] is False
    assert made["vllm_inference.cold_start"]["sameText"] is True
    assert made["vllm_inference.scheduled"]["gpus"] == 1
    assert expect.applicable(given) == {
        "vllm_inference.scale_to_zero": True,
        "vllm_inference.cold_start": True,
    }
    given = outputs({"server": "vllm", "model": "Qwen/Qwen3-0.6B", "minReplicas": 2})
    made = expect.expected(given, inference_server.plan(given))
    assert made["vllm_inference.wrong_model"]["status"] == 404
    assert made["vllm_inference.stream"]["done"] is True
    assert "sameText" not in made["vllm_inference.cold_start"]
    assert made["vllm_inference.scheduled"]["queueAllocated"] == 2
    assert set(expect.applicable(given).values()) == {False}


@pytest.mark.req("V5", "V12")
def test_a_declared_na_fails_where_inference_could_run() -> None:
    assert gate.could_run(TEST, {"freeGpus": 1})
    assert gate.could_run(TEST, {"freeGpus": 1, "inference": True})
    assert not gate.could_run(TEST, {"freeGpus": 1, "inference": False})
    assert not gate.could_run(TEST, {"freeGpus": 0, "inference": True})
    assert not gate.could_run("model_streamer", {"modelStreamer": False})
    assert gate.could_run("model_streamer", {"freeGpus": 0})


@pytest.mark.req("V5", "V12")
@pytest.mark.parametrize(
    ("changes", "could"),
    [
        ({}, True),
        ({"ingress": {"enabled": False}}, False),
        ({"inference": {"enabled": False}}, False),
        ({"validation": {"inference": {"server": "vllm"}}}, False),
        ({"validation": {"inference": {"server": "vllm"}}, "fakeGpus": {"enabled": False}}, True),
    ],
)
def test_a_fake_gpu_is_none_for_vllm(changes: Json, could: bool) -> None:
    assert preflight.live_facts(bed().at(**changes))["inference"] is could


def service(status: str, reason: str = "", message: str = "", url: str = f"https://{HOST}") -> Json:
    ready = {"type": "Ready", "status": status, "reason": reason, "message": message}
    return thing("runai-kit-llm", "runai-test", status={"conditions": [ready], "url": url})


def server_pod(name: str = "runai-kit-llm-00001-x", **rest: Any) -> Json:
    made = pod(name, "runai-test", gpus=1, test=TEST, role="server", **rest)
    made["spec"]["containers"].append({"name": "queue-proxy"})
    return made


def event(of: Json, reason: str, component: str, uid: str = "") -> Json:
    target = {"name": of["metadata"]["name"], "uid": uid or of["metadata"]["uid"]}
    return thing(
        f"{reason}-{component}",
        of["metadata"]["namespace"],
        reason=reason,
        involvedObject=target,
        source={"component": component},
    )


@pytest.mark.req("V5")
def test_a_ready_service_tells_its_url() -> None:
    made = Double().add(names.KNATIVE_SERVICES, service("True")).add(names.PODS, server_pod())
    given = outputs()
    seen = vllm_inference.ready(made.at(), inference_server.plan(given), lambda _: None)
    assert (seen["ready"], seen["scheme"], seen["inDomain"], seen["replicas"]) == ("True", "https", True, 1)
    expected = expect.expected(given, inference_server.plan(given))["vllm_inference.ready"]
    assert differences(expected, seen) == []
    plain = Double().add(names.KNATIVE_SERVICES, service("True", url="http://x.elsewhere.test"))
    seen = vllm_inference.ready(plain.at(), inference_server.plan(given), lambda _: None)
    assert (seen["scheme"], seen["inDomain"], seen["replicas"]) == ("http", False, 0)
    assert len(differences(expected, seen)) == 3


@pytest.mark.req("V5")
def test_a_container_that_fails_ends_the_wait_and_is_named() -> None:
    broken = server_pod(phase="Running")
    told = {"reason": "Error", "message": "SafetensorError: header too\nlarge", "exitCode": 1}
    broken["status"]["containerStatuses"] = [
        {
            "name": "main",
            "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
            "lastState": {"terminated": told},
        }
    ]
    made = Double().add(names.PODS, broken)
    made.add(names.KNATIVE_SERVICES, service("False", "RevisionMissing", "Container failed", url=""))
    seen = knative.wait_ready(
        made.cluster, "runai-test", "runai-kit-llm", TEST, 5, lambda _: None, 0.01, hopeless_after=0.05
    )
    assert seen["seconds"] < 2
    assert (seen["ready"], seen["reason"]) == ("False", "RevisionMissing")
    assert seen["why"][0] == "Ready: RevisionMissing Container failed"
    assert "main: CrashLoopBackOff back-off 40s" in seen["why"]
    assert "main: Error SafetensorError: header too large" in seen["why"]


@pytest.mark.req("V5")
def test_a_service_that_nobody_looks_at_is_told() -> None:
    seen = knative.wait_ready(
        Double().cluster, "runai-test", "runai-kit-llm", TEST, 0.05, lambda _: None, interval=0.01
    )
    assert (seen["ready"], seen["why"]) == ("Unknown", ["Knative's controller told nothing of the Service"])


@pytest.mark.req("V5", "V10")
def test_a_pod_without_a_place_is_waited_for_to_the_end() -> None:
    waiting = server_pod(on=None, phase="Pending")
    waiting["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "over quota"}
    ]
    made = Double().add(names.PODS, waiting)
    made.add(names.KNATIVE_SERVICES, service("False", "Unschedulable", "no place"))
    seen = knative.wait_ready(
        made.cluster, "runai-test", "runai-kit-llm", TEST, 0.3, lambda _: None, 0.01, hopeless_after=0.05
    )
    assert seen["seconds"] >= 0.3
    assert any("Unschedulable over quota" in line for line in seen["why"])


def placed(scheduler: str = "kai-scheduler", binder: str = "binder") -> Double:
    mine = server_pod()
    made = Double().add(names.PODS, mine).add(names.EVENTS, event(mine, "Scheduled", scheduler))
    made.add(names.EVENTS, event(mine, "Scheduled", "old", uid="other"), event(mine, "Pulled", "kubelet"))
    if binder:
        made.add(names.EVENTS, event(mine, "Bound", binder))
    made.add(names.POD_GROUPS, group(mine["metadata"]["name"], "test", "runai-test", priority="inference"))
    return made.add(names.QUEUES, queue("test", allocated="3"))


@pytest.mark.req("V5")
def test_the_pod_was_bound_by_kai_and_counts_in_its_queue() -> None:
    given = outputs()
    plan = inference_server.plan(given)
    expected = expect.expected(given, plan)["vllm_inference.scheduled"]
    then = {"allocated": {"test": 2}}
    seen = vllm_inference.scheduled(placed().at(), plan, then)
    assert differences(expected, seen) == []
    # The pod names KAI as its scheduler, another one was faster: only the events tell.
    seen = vllm_inference.scheduled(placed("default-scheduler", "").at(), plan, then)
    assert differences(expected, seen) == [
        "scheduledBy: expected ['kai-scheduler'], found ['default-scheduler']",
        "boundBy: expected ['binder'], found []",
    ]
    alone = placed()
    alone.objects[names.POD_GROUPS].clear()
    seen = vllm_inference.scheduled(alone.at(), plan, {"allocated": {"test": 3}})
    assert seen["queues"] == ["none"]
    assert seen["queueAllocated"] == 0


def asked(model: Model, folder: Path, counts: str = "COUNTS=[5, 3]", ca: str = "") -> tuple[Json, Json]:
    """What the API step sees of a server."""
    made = Double().add(names.PODS, server_pod())
    made.said["runai-kit-llm-00001-x"] = f"a warning\n{counts}\n"
    given = outputs()
    with served(model, folder) as where:
        trusted = Ingress(where.address, where.port, ca or where.ca)
        at = made.at(validation=given.validation.model_dump())
        return vllm_inference.api(at, trusted, f"https://{HOST}", inference_server.plan(given))


def faults(found: Json) -> dict[str, str]:
    """Failed checks of an API step, with their first difference."""
    given = outputs()
    expected = expect.expected(given, inference_server.plan(given))
    told: dict[str, str] = {}
    for check, seen in found.items():
        lines = [seen["error"]] if "error" in seen else differences(expected[check], seen)
        if lines:
            told[check.partition(".")[2]] = lines[0]
    return told


@pytest.mark.req("V5")
def test_a_good_server_meets_every_expectation(tmp_path: Path) -> None:
    found, transcript = asked(Model(), tmp_path)
    assert faults(found) == {}
    assert set(found) == {
        f"vllm_inference.{name}" for name in ("tls", "models", "chat", "tokens", "stream", "wrong_model")
    }
    assert transcript["answers"][0]["text"] == transcript["streamed"]
    assert found["vllm_inference.tls"]["names"] == [HOST]
    json.dumps(found)


@pytest.mark.req("V5")
@pytest.mark.parametrize(
    ("model", "counts", "wanted"),
    [
        (
            Model(answer=lambda _: "the same to all"),
            "COUNTS=[5, 3]",
            {"chat": "distinct: expected 2, found 1"},
        ),
        (Model(count=lambda _: 99), "COUNTS=[5, 3]", {"tokens": "mismatches: expected []"}),
        (Model(), "OSError: no tokenizer", {"tokens": "counted nothing: a warning OSError: no tokenizer"}),
        (Model(done=True), "COUNTS=[5, 3]", {"stream": "done: expected False, found True"}),
        (Model(split=False), "COUNTS=[5, 3]", {"stream": "pieces: expected atLeast 2, found 1"}),
        (Model(checks_model=False), "COUNTS=[5, 3]", {"wrong_model": "status: expected 400, found 200"}),
    ],
)
def test_each_fault_fails_its_check_and_no_other(
    model: Model, counts: str, wanted: dict[str, str], tmp_path: Path
) -> None:
    told = faults(asked(model, tmp_path, counts)[0])
    assert set(told) == set(wanted)
    for name, text in wanted.items():
        assert text in " ".join(told[name].split())


@pytest.mark.req("V5")
def test_with_a_wrong_ca_everything_fails_and_says_so(tmp_path: Path) -> None:
    told = faults(asked(Model(), tmp_path, ca=foreign_ca())[0])
    assert set(told) == {"tls", "models", "chat", "tokens", "stream", "wrong_model"}
    assert all("certificate was not accepted" in text for text in told.values())


@pytest.mark.req("V5")
def test_scaling_to_zero_means_no_pod_and_no_gpu() -> None:
    given = outputs()
    plan = inference_server.plan(given)
    idle = Double().add(names.QUEUES, queue("test", allocated="2"))
    idle.add(names.KNATIVE_SERVICES, service("True"))
    then = {"allocated": {"test": 2}}
    seen = vllm_inference.scale_to_zero(idle.at(), plan, then, 5, lambda _: None)
    assert (seen["pods"], seen["queueAllocated"], seen["ready"]) == (0, 0, "True")
    still = placed().add(names.KNATIVE_SERVICES, service("True"))
    seen = vllm_inference.scale_to_zero(still.at(), plan, then, 0.1, lambda _: None)
    assert (seen["pods"], seen["queueAllocated"]) == (1, 1)


@pytest.mark.req("V5")
def test_a_cold_start_needs_a_new_pod_and_the_same_answer(tmp_path: Path) -> None:
    made = Double()
    given = outputs()

    def wakes(prompt: str) -> str:
        made.add(names.PODS, server_pod())
        return prompt.upper()

    with served(Model(answer=wakes), tmp_path) as where:
        at = made.at(validation=given.validation.model_dump())
        url = f"https://{HOST}"
        seen = vllm_inference.cold_start(at, where, url, inference_server.PROMPTS[0].upper())
        assert (seen["status"], seen["podsBefore"], seen["newPod"], seen["sameText"]) == (200, 0, True, True)
        warm = vllm_inference.cold_start(at, where, url, "other")
        assert (warm["podsBefore"], warm["sameText"]) == (1, False)
    gone = vllm_inference.cold_start(at, Ingress("127.0.0.1", 1), url, "")
    assert "no answer" in gone["error"]


@pytest.mark.req("V11")
def test_cleaning_up_takes_the_service_first_and_waits_for_what_it_made() -> None:
    own = {names.PART_OF_LABEL: names.PART_OF, names.TEST_LABEL: TEST}
    owner = [{"kind": "Configuration", "name": "runai-kit-llm"}]
    revision = thing("runai-kit-llm-00001", "runai-test", own)
    revision["metadata"]["ownerReferences"] = owner
    mine = server_pod(labels={cleanup.SERVING_LABEL: "runai-kit-llm"})
    made = Double().add(names.KNATIVE_REVISIONS, revision).add(names.PODS, mine)
    made.add(names.KNATIVE_SERVICES, thing("runai-kit-llm", "runai-test", own))
    removed, left = cleanup.remove(made.cluster, "res", TEST, timeout=0.1, interval=0.01)
    # Nobody collects garbage here, so that the revision stays and is told.
    assert made.deleted[0].endswith("services/runai-kit-llm")
    assert left == ["revisions runai-test/runai-kit-llm-00001"]
    assert "pods runai-test/runai-kit-llm-00001-x" in removed

    def collect(path: str) -> None:
        if path.endswith("services/runai-kit-llm"):
            made.objects[names.KNATIVE_REVISIONS].clear()

    made.add(names.KNATIVE_SERVICES, thing("runai-kit-llm", "runai-test", own))
    made.on_delete = collect
    assert cleanup.remove(made.cluster, "res", TEST, timeout=1, interval=0.01)[1] == []
