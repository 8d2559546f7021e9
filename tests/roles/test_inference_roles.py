"""Inference and Model Streamer without a cluster: shape of the roles, what their templates make, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.roles.conftest import OUTPUTS, ROOT
from tests.roles.test_roles import Play, render, role_with, training
from validation import declared, inference_server, model_streamer
from validation.expect import model_streamer as expect_streamer
from validation.expect import vllm_inference
from validation.settings import load

Json = dict[str, Any]
KIT = json.loads(OUTPUTS.read_text())
ROLES = {"vllm_inference": "vllm_inference.cleanup", "model_streamer": "model_streamer.cleanup"}


def kit() -> Json:
    bounds = {**KIT["validation"]}
    bounds["inference"] = {"server": "transformers", "model": "/models/tiny-chat", "minReplicas": 0}
    return {**KIT, "validation": bounds}


@pytest.mark.req("V11")
@pytest.mark.parametrize("role", ROLES)
def test_main_is_a_table_of_contents_that_always_cleans_up(role: str) -> None:
    (block,) = yaml.safe_load((ROOT / "roles" / role / "tasks/main.yml").read_text())
    steps = [*block["block"], *block["rescue"], *block["always"]]
    assert all(set(step) == {"name", "ansible.builtin.include_tasks"} for step in steps)
    assert block["always"][-1]["ansible.builtin.include_tasks"] == "cleanup.yml"


@pytest.mark.req("V12")
@pytest.mark.parametrize("role", ROLES)
def test_every_declared_check_has_an_expectation(role: str) -> None:
    outputs = load(kit())
    expected = {
        "vllm_inference": set(vllm_inference.expected(outputs, inference_server.plan(outputs))),
        "model_streamer": set(expect_streamer.expected()),
    }[role]
    # What is about another driver is stated where that driver is (expect/told).
    mine = {c.id for c in declared.tests()[role].checks if ("driver", "runai") not in c.only}
    assert mine == expected | {ROLES[role]}


def service(**changes: Any) -> Json:
    plan = inference_server.plan(load(kit()))
    item = {**plan.item, "namespace": plan.namespace, "queue": plan.queue, **changes}
    (made,) = render(
        "kai/inference.yml.j2", kit=kit(), workload_complete=[item], workload_test="vllm_inference"
    )
    return made


@pytest.mark.req("V5")
def test_a_model_is_a_knative_service_that_kai_schedules() -> None:
    made = service()
    template = made["spec"]["template"]
    assert (made["apiVersion"], made["kind"]) == ("serving.knative.dev/v1", "Service")
    assert template["metadata"]["annotations"] == {
        "autoscaling.knative.dev/min-scale": "0",
        "autoscaling.knative.dev/max-scale": "1",
        "autoscaling.knative.dev/window": "60s",
        "serving.knative.dev/progress-deadline": "600s",
    }
    assert template["spec"]["schedulerName"] == "kai-scheduler"
    for labels in (made["metadata"]["labels"], template["metadata"]["labels"]):
        assert labels["kai.scheduler/queue"] == "test"
        assert labels["runai-kit.io/role"] == "server"
    (container,) = template["spec"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert container["readinessProbe"]["httpGet"] == {"path": "/health", "port": 8000}
    assert container["ports"] == [{"containerPort": 8000}]
    mounts = {m["mountPath"]: m for m in container["volumeMounts"]}
    assert mounts["/models"]["readOnly"] is True
    claim = next(v for v in template["spec"]["volumes"] if "persistentVolumeClaim" in v)
    assert claim["persistentVolumeClaim"] == {"claimName": "runai-kit-models", "readOnly": True}


@pytest.mark.req("V5")
def test_a_request_waits_for_the_start_but_no_longer_than_knative_admits() -> None:
    template = service(initializationTimeoutSeconds=1800)["spec"]["template"]
    assert template["metadata"]["annotations"]["serving.knative.dev/progress-deadline"] == "1800s"
    assert template["spec"]["timeoutSeconds"] == 600
    assert service(initializationTimeoutSeconds=120)["spec"]["template"]["spec"]["timeoutSeconds"] == 120


@pytest.mark.req("V5", "V14")
def test_half_a_gpu_and_any_server_can_be_served() -> None:
    made = service(
        gpus=0, gpuFraction=0.5, pvcs=[], port=8080, probePath="/", command=["httpd"], environment={}
    )
    template = made["spec"]["template"]
    assert template["metadata"]["annotations"]["gpu-fraction"] == "0.5"
    (container,) = template["spec"]["containers"]
    assert "nvidia.com/gpu" not in container["resources"]["limits"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/", "port": 8080}
    assert [v["name"] for v in template["spec"]["volumes"]] == ["scratch"]


@pytest.mark.req("I1")
def test_services_would_pass_the_restricted_level() -> None:
    spec = service()["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    context = spec["containers"][0]["securityContext"]
    assert context == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


@pytest.mark.req("V5", "V7")
def test_a_claim_of_the_tests_own_names_no_class() -> None:
    claim = {"name": "runai-kit-models", "size": "1Gi", "project": "test"}
    (made,) = render(
        "kai/claim.yml.j2",
        workload_claim=claim,
        workload_claim_namespace="runai-test",
        workload_test="vllm_inference",
    )
    assert "storageClassName" not in made["spec"]
    assert made["spec"]["resources"]["requests"]["storage"] == "1Gi"
    assert made["metadata"]["namespace"] == "runai-test"
    assert made["metadata"]["labels"]["runai-kit.io/test"] == "vllm_inference"


@pytest.mark.req("I12")
def test_keys_lie_in_a_secret_and_nowhere_else() -> None:
    plan = model_streamer.plan(load(kit()), "")
    keys = {"id": "KEYID", "secret": "canary"}
    made = render(
        "model_streamer/s3.yml.j2", kit=kit(), model_streamer_plan=vars(plan), model_streamer_keys=keys
    )
    assert [thing["kind"] for thing in made] == ["Secret", "Service", "Pod"]
    secret, service_, pod = made
    assert secret["stringData"]["AWS_SECRET_ACCESS_KEY"] == "canary"
    assert secret["stringData"]["ROOT_SECRET_ACCESS_KEY"] == "canary"
    assert "canary" not in json.dumps([service_, pod])
    assert pod["spec"]["containers"][0]["envFrom"] == [{"secretRef": {"name": plan.secret}}]
    assert service_["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    assert {c["name"] for c in pod["spec"]["initContainers"]} == {"seed"}


@pytest.mark.req("I12")
def test_a_job_takes_its_keys_from_the_secret() -> None:
    job = training(gpus=0, environmentSecret="runai-kit-s3-keys", environment={"AWS_REGION": "us-east-1"})
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["envFrom"] == [{"secretRef": {"name": "runai-kit-s3-keys"}}]
    assert container["env"] == [{"name": "AWS_REGION", "value": "us-east-1"}]


@pytest.mark.req("I12", "V12")
def test_tasks_that_see_keys_log_nothing() -> None:
    tasks = yaml.safe_load((ROOT / "roles/model_streamer/tasks/s3.yml").read_text())
    touching = [task for task in tasks if "keys" in json.dumps(task) or "s3.yml.j2" in json.dumps(task)]
    assert len(touching) == 2
    assert all(task["no_log"] is True for task in touching)


REFUSALS: list[tuple[Json, str]] = [
    (role_with("vllm_inference", vllm_inference_keep="perhaps"), "vllm_inference_keep"),
    (role_with("vllm_inference", vllm_inference_command={"a": 1}), "vllm_inference_command"),
    (role_with("model_streamer", model_streamer_keep="perhaps"), "model_streamer_keep"),
    (
        role_with("workload", "seed", workload_test="t", workload_claim={"name": "x"}),
        "missing required arguments",
    ),
]


@pytest.mark.req("V13")
def test_wrong_arguments_are_refused_before_any_call(play: Play, tmp_path: Path) -> None:
    tasks: list[Json] = []
    for number, (task, _) in enumerate(REFUSALS):
        note: Json = {"dest": str(tmp_path / str(number)), "mode": "0600"}
        keep: Json = {"ansible.builtin.copy": {**note, "content": "{{ ansible_failed_result.msg }}"}}
        tasks.append(
            {"block": [task, {"ansible.builtin.fail": {"msg": "was let through"}}], "rescue": [keep]}
        )
    play(tasks)
    said = [" ".join((tmp_path / str(n)).read_text().split()) for n in range(len(REFUSALS))]
    assert [text for text, (_, wanted) in zip(said, REFUSALS, strict=True) if wanted not in text] == []
