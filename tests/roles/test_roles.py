"""Roles without a cluster: shape, refusals, templates, and what a crash leaves behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tests.roles.conftest import OUTPUTS, ROOT, Played
from validation import declared, whole_run, workloads
from validation.expect import full
from validation.settings import load

Json = dict[str, Any]
ROLES = sorted(p.name for p in (ROOT / "roles").iterdir() if p.is_dir())
TESTS = tuple(declared.tests())
Play = Callable[..., Played]


@pytest.mark.req("V12")
@pytest.mark.parametrize("role", ROLES)
def test_each_role_has_its_parts(role: str) -> None:
    for part in ("defaults/main.yml", "meta/main.yml", "meta/argument_specs.yml", "README.md"):
        assert (ROOT / "roles" / role / part).is_file(), part


@pytest.mark.req("V11")
@pytest.mark.parametrize("role", TESTS)
def test_main_is_a_table_of_contents_that_always_cleans_up(role: str) -> None:
    (block,) = yaml.safe_load((ROOT / "roles" / role / "tasks/main.yml").read_text())
    steps = [*block["block"], *block.get("rescue", []), *block["always"]]
    assert all(set(step) == {"name", "ansible.builtin.include_tasks"} for step in steps)
    assert block["always"][-1]["ansible.builtin.include_tasks"] == "cleanup.yml"


@pytest.mark.req("V12")
def test_no_verdict_is_ever_ignored() -> None:
    for path in [*ROOT.glob("roles/**/*.yml"), *ROOT.glob("validation/**/*.yml")]:
        text = path.read_text()
        assert "ignore_errors" not in text, path
        assert "failed_when: false" not in text, path


@pytest.mark.req("V12")
@pytest.mark.parametrize("role", TESTS)
def test_every_declared_check_is_recorded_by_its_role(role: str) -> None:
    if role == "preflight":
        from validation.observe.preflight import CHECKS
        from validation.observe.probes import NAMES_CHECK, POLICIES_CHECK

        # The last is judged by role report, when the run ends.
        named = set(CHECKS) | {"preflight.volume", "preflight.dns", NAMES_CHECK, POLICIES_CHECK}
        named |= {whole_run.CHECK}
    else:
        named = set()
    # A role that judges everything at once names its checks only where they are expected.
    places = [*(ROOT / "roles" / role / "tasks").glob("*.yml"), ROOT / "validation/expect" / f"{role}.py"]
    text = "".join(p.read_text() for p in places if p.is_file())
    for check in declared.tests()[role].checks:
        assert check.id in named or check.id in text, check.id


# A task that would have to reach a cluster if the arguments were let through.
def role_with(name: str, tasks_from: str = "main", **variables: Any) -> Json:
    return {"ansible.builtin.include_role": {"name": name, "tasks_from": tasks_from}, "vars": variables}


ITEM = {"name": "runai-kit-x", "role": "x", "project": "team-a", "gpus": 1}


SUBMIT: Json = {"workload_test": "t"}
REFUSALS: list[tuple[Json, str]] = [
    (
        role_with("preflight", preflight_psa_default="strict"),
        "must be one of: restricted, baseline, privileged",
    ),
    (role_with("fractional_gpu", fractional_gpu_keep="perhaps"), "fractional_gpu_keep"),
    (
        role_with("over_quota", over_quota_teams=[{"department": "engineering"}]),
        "project found in over_quota_teams",
    ),
    (role_with("reclaim", reclaim_deserved="many"), "reclaim_deserved"),
    (role_with("mnist_training", mnist_training_samples="all"), "mnist_training_samples"),
    (role_with("jupyter_workspace", jupyter_workspace_timeout="long"), "jupyter_workspace_timeout"),
    (role_with("workload", "submit", workload_items=[ITEM]), "workload_test"),
    (role_with("workload", "submit", **SUBMIT, workload_items=[{"name": "x"}]), "missing required arguments"),
    (
        role_with("workload", "submit", **SUBMIT, workload_items=[ITEM], workload_driver="slurm"),
        "one of: kai",
    ),
    (
        role_with("workload", "submit", **SUBMIT, workload_items=[{**ITEM, "gpuFraction": 0.5}]),
        "exactly one of gpus, gpuFraction and gpuMemory",
    ),
    (
        role_with("workload", "submit", **SUBMIT, workload_items=[{**ITEM, "name": "x"}]),
        "begin with runai-kit-; found x",
    ),
    (
        role_with("workload", "submit", **SUBMIT, workload_items=[{**ITEM, "project": "nobody"}]),
        "Unknown project nobody; the stack has team-a, team-b, test",
    ),
    (
        role_with("workload", "submit", **SUBMIT, workload_items=[ITEM, {**ITEM, "kind": "workspace"}]),
        "Items of one submit are of one kind; found training, workspace",
    ),
    (
        role_with("workload", "submit", **SUBMIT, workload_items=[{**ITEM, "gang": True}]),
        "A gang has two pods or more; found runai-kit-x",
    ),
]


@pytest.mark.req("V13")
def test_wrong_arguments_are_refused_before_any_call(play: Play, tmp_path: Path) -> None:
    """All cases in one play: each writes down why it was refused, or that it was let through."""
    tasks: list[Json] = []
    for number, (task, _) in enumerate(REFUSALS):
        note: Json = {"dest": str(tmp_path / str(number)), "mode": "0600"}
        let_through: Json = {"ansible.builtin.fail": {"msg": "was let through"}}
        keep: Json = {"ansible.builtin.copy": {**note, "content": "{{ ansible_failed_result.msg }}"}}
        tasks.append({"block": [task, let_through], "rescue": [keep]})
    play(tasks)
    said = [" ".join((tmp_path / str(n)).read_text().split()) for n in range(len(REFUSALS))]
    assert [text for text, (_, wanted) in zip(said, REFUSALS, strict=True) if wanted not in text] == []
    assert not [text for text in said if "127.0.0.1" in text]


@pytest.mark.req("V13")
def test_descriptions_are_completed_by_their_project() -> None:
    outputs = load(json.loads(OUTPUTS.read_text()))
    made = workloads.complete(workloads.jobs(2, "runai-kit-a", project="team-b"), outputs, "img", ["true"])
    assert [w["name"] for w in made] == ["runai-kit-a-1", "runai-kit-a-2"]
    assert {(w["namespace"], w["queue"], w["gpus"]) for w in made} == {("runai-team-b", "team-b", 1)}
    (half,) = workloads.halves([2], "runai-kit-half", project="team-a", queue="other")
    assert workloads.complete([half], outputs, "img", ["true"])[0]["queue"] == "other"


def render(template: str, **variables: Any) -> list[Json]:
    environment = Environment(
        loader=FileSystemLoader(ROOT / "validation/templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        autoescape=False,
    )
    environment.filters["to_json"] = json.dumps
    kit = json.loads(OUTPUTS.read_text())
    text = environment.get_template(template).render(kit={**kit, **variables.pop("kit", {})}, **variables)
    return [document for document in yaml.safe_load_all(text) if document]


def training(kit: Json | None = None, **item: Any) -> Json:
    (job,) = [thing for thing in trainings(kit, **item) if thing["kind"] == "Job"]
    return job


def trainings(kit: Json | None = None, **item: Any) -> list[Json]:
    base = {
        "name": "runai-kit-x",
        "namespace": "runai-team-a",
        "queue": "team-a",
        "role": "half",
        "image": "cuda:1",
        "command": ["bash", "-c", "nvidia-smi -L; sleep 5"],
    }
    return render(
        "kai/training.yml.j2",
        kit=kit or {},
        workload_complete=[{**base, **item}],
        workload_test="fractional_gpu",
        workload_grace_seconds=2,
        workload_deadline=720,
    )


@pytest.mark.req("V2")
def test_half_a_gpu_is_an_annotation_and_never_a_resource() -> None:
    job = training(gpuFraction=0.5)
    template = job["spec"]["template"]
    assert template["metadata"]["annotations"] == {"gpu-fraction": "0.5"}
    assert "nvidia.com/gpu" not in template["spec"]["containers"][0]["resources"]["limits"]
    assert training(gpuMemory=4000)["spec"]["template"]["metadata"]["annotations"] == {"gpu-memory": "4000"}


@pytest.mark.req("V3")
def test_whole_gpus_are_a_resource_and_the_queue_is_a_label_of_job_and_pod() -> None:
    job = training(gpus=2)
    template = job["spec"]["template"]
    assert template["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "2"
    assert "annotations" not in template["metadata"]
    assert template["spec"]["schedulerName"] == "kai-scheduler"
    for labels in (job["metadata"]["labels"], template["metadata"]["labels"]):
        assert labels["kai.scheduler/queue"] == "team-a"
        assert labels["app.kubernetes.io/part-of"] == "runai-kit-validation"


@pytest.mark.req("V4")
def test_the_priority_class_is_a_label_for_kai() -> None:
    assert training(gpus=1, priorityClass="build")["metadata"]["labels"]["priorityClassName"] == "build"
    assert "priorityClassName" not in training(gpus=1)["metadata"]["labels"]


@pytest.mark.req("I1")
def test_trainings_would_pass_the_restricted_level() -> None:
    spec = training(gpus=1)["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    container = spec["containers"][0]["securityContext"]
    assert container == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert {next(iter(set(v) - {"name"})) for v in spec["volumes"]} <= {"emptyDir", "persistentVolumeClaim"}


@pytest.mark.req("V7")
def test_large_shm_and_claims_are_mounted() -> None:
    job = training(gpus=1, largeShm=True, pvcs=[{"name": "data", "path": "/data"}])
    spec = job["spec"]["template"]["spec"]
    assert {"name": "shm", "emptyDir": {"medium": "Memory"}} in spec["volumes"]
    mounts = {m["mountPath"]: m["name"] for m in spec["containers"][0]["volumeMounts"]}
    assert mounts["/dev/shm"] == "shm"
    assert mounts["/data"] == "claim-1"


@pytest.mark.req("V7")
def test_files_are_a_config_map_of_the_workload() -> None:
    text = 'print("{{ not a template }}")\n'
    files, job = trainings(gpus=1, files={"train.py": text}, environment={"RATE": 0.001}, retries=0)
    assert files["kind"] == "ConfigMap"
    assert files["data"] == {"train.py": text}
    assert files["metadata"]["labels"] == job["metadata"]["labels"]
    spec = job["spec"]["template"]["spec"]
    assert {"name": "files", "configMap": {"name": files["metadata"]["name"]}} in spec["volumes"]
    assert spec["containers"][0]["env"] == [{"name": "RATE", "value": "0.001"}]
    assert job["spec"]["backoffLimit"] == 0


@pytest.mark.req("V9")
def test_several_pods_are_a_job_and_a_gang_is_a_pod_group_with_as_many_members() -> None:
    job = training(gpus=3, pods=2)
    assert (job["spec"]["parallelism"], job["spec"]["completions"]) == (2, 2)
    topology = {"name": "racks", "required": "zone", "preferred": "rack"}
    group, *pods = trainings(gpus=3, pods=2, gang=True, priorityClass="build", topology=topology)
    assert group["spec"]["minMember"] == 2
    assert (group["spec"]["queue"], group["spec"]["priorityClassName"]) == ("team-a", "build")
    assert group["spec"]["topologyConstraint"] == {
        "topology": "racks",
        "requiredTopologyLevel": "zone",
        "preferredTopologyLevel": "rack",
    }
    assert [pod["metadata"]["name"] for pod in pods] == ["runai-kit-x-1", "runai-kit-x-2"]
    for pod in pods:
        assert pod["metadata"]["annotations"] == {"pod-group-name": group["metadata"]["name"]}
        assert pod["spec"]["containers"] == training(gpus=3)["spec"]["template"]["spec"]["containers"]
    assert "topologyConstraint" not in trainings(gpus=3, pods=2, gang=True)[0]["spec"]


@pytest.mark.req("V9")
def test_placement_is_stated_by_node_labels_annotations_and_scheduler() -> None:
    job = training(
        gpus=1,
        nodeSelector={"disk": "fast"},
        nodes=["w1", "w2"],
        nodePool="lab",
        schedulerName="default-scheduler",
        labels={"team": "x"},
        annotations={"run.ai/simulated-gpu-utilization": "10-30"},
        topology={"name": "racks", "required": "rack"},
    )
    pod = job["spec"]["template"]
    assert pod["spec"]["nodeSelector"] == {"kai.scheduler/node-pool": "lab", "disk": "fast"}
    assert job["metadata"]["labels"]["kai.scheduler/node-pool"] == "lab"
    (term,) = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"][0]["values"] == ["w1", "w2"]
    assert pod["spec"]["schedulerName"] == "default-scheduler"
    assert pod["metadata"]["labels"]["team"] == "x"
    assert pod["metadata"]["annotations"] == {"run.ai/simulated-gpu-utilization": "10-30"}
    assert job["metadata"]["annotations"]["kai.scheduler/topology-required-placement"] == "rack"
    assert "kai.scheduler/topology-preferred-placement" not in job["metadata"]["annotations"]


def workspace(kit: Json | None = None, **item: Any) -> dict[str, Json]:
    base = {
        "name": "runai-kit-jupyter",
        "namespace": "runai-team-a",
        "queue": "team-a",
        "role": "workspace",
        "image": "lab:1",
        "command": ["jupyter", "lab"],
    }
    made = render(
        "kai/workspace.yml.j2",
        kit=kit or {},
        workload_complete=[{**base, **item}],
        workload_test="jupyter_workspace",
        workload_grace_seconds=2,
    )
    return {thing["kind"]: thing for thing in made}


@pytest.mark.req("V6")
def test_a_workspace_is_a_stateful_set_that_is_not_preemptible_with_a_service_of_its_name() -> None:
    made = workspace(gpus=1)
    assert set(made) == {"Service", "StatefulSet"}, "the ingress that was rendered needs no object"
    template = made["StatefulSet"]["spec"]["template"]
    assert made["Service"]["metadata"]["name"] == "runai-kit-jupyter"
    assert made["Service"]["spec"]["ports"] == [{"name": "http", "port": 80, "targetPort": "http"}]
    assert made["Service"]["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    for labels in (made["StatefulSet"]["metadata"]["labels"], template["metadata"]["labels"]):
        assert (labels["priorityClassName"], labels["kai.scheduler/queue"]) == ("build", "team-a")
    assert template["spec"]["schedulerName"] == "kai-scheduler"
    assert template["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert workspace(gpuFraction=0.5)["StatefulSet"]["spec"]["template"]["metadata"]["annotations"] == {
        "gpu-fraction": "0.5"
    }


@pytest.mark.req("V6")
def test_a_workspaces_token_is_a_file_from_its_secret_and_nothing_else() -> None:
    spec = workspace(gpus=1)["StatefulSet"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    env = {entry["name"]: entry["value"] for entry in container["env"]}
    assert env["JUPYTER_TOKEN_FILE"] == "/run/runai-kit/token"
    assert "JUPYTER_TOKEN" not in env
    volume = next(v for v in spec["volumes"] if v["name"] == "token")
    assert volume["secret"]["secretName"] == "runai-kit-jupyter-token"
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.req("V6")
@pytest.mark.parametrize("source", ["controller", "existing"])
def test_an_ingress_controller_gets_an_ingress_with_the_workspaces_host(source: str) -> None:
    kit = {
        "ingress": {"enabled": True, "source": source, "className": "haproxy"},
        "workspaces": {"enabled": True, "domain": "ws.corp.example"},
    }
    rule = workspace(kit=kit, gpus=1)["Ingress"]["spec"]["rules"][0]
    assert rule["host"] == "runai-kit-jupyter-runai-team-a.ws.corp.example"
    assert rule["http"]["paths"][0]["backend"]["service"]["name"] == "runai-kit-jupyter"


@pytest.mark.req("V9")
def test_a_node_pool_binds_pods_to_its_nodes() -> None:
    bounds = {"validation": {"nodePool": "lab", "sleepSeconds": 60, "timeoutSeconds": 60, "maxGpus": 0}}
    job = training(kit=bounds, gpus=1)
    assert job["spec"]["template"]["spec"]["nodeSelector"] == {"kai.scheduler/node-pool": "lab"}
    assert job["metadata"]["labels"]["kai.scheduler/node-pool"] == "lab"


@pytest.mark.req("V4")
def test_queues_of_the_test_set_all_three_resources() -> None:
    tree = [{"name": "kit-reclaim-a", "parent": "kit-reclaim", "deserved": 2, "limit": 8}]
    (queue,) = render("kai/queues.yml.j2", queue_tree=tree, queue_test="reclaim")
    assert queue["spec"]["parentQueue"] == "kit-reclaim"
    assert queue["spec"]["resources"]["gpu"] == {"quota": 2, "limit": 8, "overQuotaWeight": 1}
    for resource in ("cpu", "memory"):
        assert queue["spec"]["resources"][resource]["limit"] == -1
    assert queue["metadata"]["labels"]["runai-kit.io/test"] == "reclaim"


@pytest.mark.req("V1")
def test_probes_stay_in_a_namespace_without_a_pod_security_label() -> None:
    namespace, claim, policy = render("preflight/ground.yml.j2")
    assert policy["kind"] == "NetworkPolicy"
    assert not [k for k in namespace["metadata"]["labels"] if k.startswith("pod-security")]
    assert "storageClassName" not in claim["spec"]
    volume, dns, *knocking = render("preflight/pods.yml.j2", preflight_token="word")
    assert [pod["metadata"]["name"] for pod in knocking] == ["runai-kit-open", "runai-kit-closed"]
    assert "word" in volume["spec"]["containers"][0]["command"][2]
    assert "volumes" not in dns["spec"]
    for pod in (volume, dns, *knocking):
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        assert "schedulerName" not in pod["spec"]


@pytest.mark.req("I7")
def test_the_probe_of_names_asks_for_those_that_are_expected() -> None:
    outputs = {**json.loads(OUTPUTS.read_text()), "profile": "full"}
    for routing in (True, False):
        outputs["controlPlane"] = {"url": "https://runai.apps.test", "hostBasedRouting": routing}
        pods = render("preflight/pods.yml.j2", preflight_token="word", kit=outputs)
        (pod,) = [pod for pod in pods if pod["metadata"]["name"] == "runai-kit-names"]
        script = pod["spec"]["containers"][0]["command"][2]
        assert f"for name in {' '.join(full.resolvable(load(outputs)))}; do" in script


@pytest.mark.req("V11", "V12", "E3")
def test_without_a_cluster_everything_is_recorded_and_the_play_fails(play: Play) -> None:
    played = play("validation/site.yml")
    assert played.code != 0
    report = json.loads((played.report / "report.json").read_text())
    verdicts = {c["id"]: c["verdict"] for c in report["checks"]}
    assert set(verdicts) == set(declared.checks())
    # What is about another kind of stack is n/a by the stack's own word; for all else somebody had to look.
    beside = declared.beside(json.loads(OUTPUTS.read_text()))
    assert {v for c, v in verdicts.items() if c.startswith("preflight.") and c not in beside} == {"fail"}
    assert {v for c, v in verdicts.items() if c.startswith("preflight.") and c in beside} == {"na"}
    # The tests were refused, and say so; that one does not apply would have to be shown.
    others = {c: v for c, v in verdicts.items() if not c.startswith("preflight.")}
    assert {v for c, v in others.items() if not c.startswith("vcf_operations.")} == {"skip"}
    assert {v for c, v in others.items() if c.startswith("vcf_operations.")} == {"fail"}
    refused = next(c for c in report["checks"] if c["id"] == "reclaim.victims")
    assert refused["reason"].startswith("refused because of preflight.access")
    assert "does not answer" in refused["reason"]
    for name in ("junit.xml", "index.html"):
        assert (played.report / name).stat().st_size > 1000
    assert "Traceback" not in played.text


@pytest.mark.req("V12")
def test_the_report_role_changes_nothing_the_second_time(play: Play) -> None:
    play([{"kit_run": {"tests": ["preflight"]}}])
    first, second = play("validation/report.yml"), play("validation/report.yml")
    assert "changed=1" in first.text
    assert "changed=0" in second.text
    assert first.code != 0


@pytest.mark.req("V12")
def test_a_role_that_stops_fails_its_checks_and_nothing_else(play: Play) -> None:
    guard: Json = {"ansible.builtin.include_tasks": str(ROOT / "validation/tasks/test.yml")}
    tasks: list[Json] = [
        {"kit_run": {"tests": ["preflight", "reclaim"]}},
        {**guard, "vars": {"kit_test_name": "preflight"}},
        {"ansible.builtin.debug": {"msg": "the play went on"}},
    ]
    played = play(tasks)
    assert "the play went on" in played.text
    assert played.code == 0
    checks = played.checks()
    assert {c.test for c in declared.checks().values() if c.id in checks} == {"preflight"}
    assert "does not answer" in checks.pop("preflight.access")["reason"]
    beside = declared.beside(json.loads(OUTPUTS.read_text()))
    stopped = "did not run: Stop where nothing can be asked"
    assert all(c["reason"].startswith(stopped) for name, c in checks.items() if name not in beside)
    assert all(c["reason"] == beside[name] for name, c in checks.items() if name in beside)


@pytest.mark.req("V12")
def test_playbooks_parse(play: Play) -> None:
    files = sorted((ROOT / "validation").glob("*.yml"))
    found = [str(p) for p in files if "hosts:" in p.read_text() or "import_playbook:" in p.read_text()]
    assert {Path(p).stem for p in found} == {*TESTS, "site", "report"}
    assert play(found[0], *found[1:], "--syntax-check").code == 0
