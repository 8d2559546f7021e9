"""Driver `runai` against the double, whose cluster is played here; on a live one: tests/acceptance."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from components.runai.client import Client
from components.runai.errors import NotFoundError, RefusedError
from components.runai.objects import KINDS
from policy.pod_security import required_level
from tests.contract.conftest import Double
from tests.contract.control_plane.phases import of_pods, of_service
from tests.contract.control_plane.rendered import objects
from validation.expect import told as expect_told
from validation.runai import driver, told
from validation.runai.kinds import INFERENCE, TRAINING
from validation.runai.requests import body
from validation.settings import ControlPlane, OutputsError, StackOutputs

Json = dict[str, Any]
QUOTA = [{"nodePool": "default", "deserved": 2, "limit": -1, "overQuotaWeight": 1}]
URL = "https://runai-kit-llm-runai-team-a.inference.test"


class Played:
    """A cluster that runs what it is given; removed pods stay for one look, as ending pods do."""

    def __init__(self) -> None:
        self.made: dict[str, list[Json]] = {}
        self.ending: set[str] = set()

    def submit(self, workload: Json) -> None:
        self.made[workload["id"]] = objects(workload)

    def remove(self, workload: Json) -> None:
        self.ending.add(workload["id"])

    def pods(self, workload: Json) -> list[Any]:
        id_ = workload["id"]
        if id_ not in self.made:
            return []
        if id_ in self.ending:
            del self.made[id_]
        return [pod("Running")]

    def served(self, workload: Json) -> Json:
        return {"url": URL, "conditions": [{"type": "Ready", "status": "True"}]}

    def thing(self, kind: str) -> Json:
        (found,) = [t for things in self.made.values() for t in things if t["kind"] == kind]
        return found


def pod(state: str, scheduled: str = "True", message: str = "") -> Any:
    condition = SimpleNamespace(type="PodScheduled", status=scheduled, message=message, reason="")
    meta = SimpleNamespace(name="p", uid="u", creation_timestamp=datetime.now(UTC), deletion_timestamp=None)
    return SimpleNamespace(
        metadata=meta,
        spec=SimpleNamespace(node_name="worker1", containers=[SimpleNamespace(name="main", image="i")]),
        status=SimpleNamespace(phase=state, conditions=[condition]),
    )


def item(name: str, **changes: Any) -> Json:
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


def whole(name: str, kind: str, **changes: Any) -> Json:
    return item(name, kind=kind, gpuFraction=None, gpus=1, **changes)


def told_by(place: ControlPlane) -> StackOutputs:
    """Outputs of a stack with this control plane and nothing else."""
    values: Json = {"environment": "t", "context": "c", "profile": "full", "driver": "runai"}
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
    return told_by(place)


@pytest.mark.req("V13")
def test_trainings_are_submitted_seen_and_removed(outputs: StackOutputs, played: Played) -> None:
    client = driver.connect(outputs)
    items = [item(f"runai-kit-half-{number}") for number in (1, 2, 3)]
    ids = driver.submit(client, outputs, "fractional_gpu", items)
    assert list(played.made) == ids
    (job,) = played.made[ids[0]]
    assert job["metadata"]["labels"]["runai-kit.io/test"] == "fractional_gpu"
    template = job["spec"]["template"]
    assert template["metadata"]["annotations"]["gpu-fraction"] == "0.5"
    assert template["metadata"]["labels"]["kai.scheduler/queue"] == "team-a"
    assert template["metadata"]["labels"]["priorityClassName"] == "train"
    assert template["spec"]["containers"][0]["command"] == items[0]["command"]
    assert required_level(template["spec"]) == ("restricted", [])
    seen = told.table(list(driver.own(client, outputs, "fractional_gpu")))
    assert seen["workloads"]["runai-kit-half-1"] == {
        **{"type": "Training", "status": "Running", "pods": "1/1", "gpus": 0.5},
        "url": "",
    }
    assert [p["nodeName"] for p in client.pages(f"/api/v1/workloads/{ids[0]}/pods", "pods")] == ["worker1"]
    assert sorted(driver.ask_to_go(client, outputs)) == sorted(i["name"] for i in items)
    assert driver.left(client, outputs, "", 10) == []
    assert played.made == {}


@pytest.mark.req("V13", "V7")
def test_a_training_brings_files_claim_and_memory(outputs: StackOutputs, played: Played) -> None:
    asked = whole(
        "runai-kit-mnist-train",
        "training",
        files={"train.py": "print()"},
        pvcs=[{"name": "data", "path": "/data"}],
        largeShm=True,
        retries=0,
        nodeSelector={"nvidia.com/gpu.present": "true"},
    )
    driver.submit(driver.connect(outputs), outputs, "mnist_training", [asked])
    job = played.thing("Job")
    assert job["spec"]["backoffLimit"] == 0
    spec = job["spec"]["template"]["spec"]
    mounted = {m["mountPath"] for m in spec["containers"][0]["volumeMounts"]}
    assert mounted == {"/data", "/opt/runai-kit", "/dev/shm"}
    kinds = [set(volume) - {"name"} for volume in spec["volumes"]]
    assert kinds == [{"persistentVolumeClaim"}, {"configMap"}, {"emptyDir"}]
    (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"] == [
        {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}
    ]
    assert spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"


@pytest.mark.req("V13", "V6")
def test_a_workspace_stands_behind_a_login_with_its_token_in_a_secret(
    outputs: StackOutputs, played: Played
) -> None:
    client = driver.connect(outputs)
    asked = whole("runai-kit-jupyter", "workspace", command=["jupyter", "lab"], memory="4Gi")
    driver.submit(client, outputs, "jupyter_workspace", [asked])
    (seen,) = driver.own(client, outputs, "jupyter_workspace")
    assert told.url(seen) == "https://runai-kit-jupyter-runai-team-a.gpu-1.test/"
    assert (seen["preemptible"], told.row(seen)["type"]) == (False, "Workspace")
    service, stateful = played.thing("Service"), played.thing("StatefulSet")
    spec = stateful["spec"]["template"]["spec"]
    server, gate = spec["containers"]
    (port,) = service["spec"]["ports"]
    assert port["targetPort"] == gate["ports"][0]["containerPort"]
    assert gate["command"][-1].startswith(outputs.controlPlane.url)
    token = next(v["name"] for v in spec["volumes"] if "secret" in v)
    assert next(v["secret"] for v in spec["volumes"] if "secret" in v)["secretName"] == (
        "runai-kit-jupyter-token"
    )
    folder = next(m["mountPath"] for m in server["volumeMounts"] if m["name"] == token)
    variables = {v["name"]: v["value"] for v in server["env"]}
    assert variables["JUPYTER_TOKEN_FILE"] == f"{folder}/token"
    assert server["readinessProbe"]["httpGet"] == {"path": "/api", "port": 8888}
    assert stateful["metadata"]["labels"]["priorityClassName"] == "build"
    assert required_level(spec) == ("restricted", [])


@pytest.mark.req("V13", "V5")
def test_an_inference_becomes_a_service_of_knative(outputs: StackOutputs, played: Played) -> None:
    client = driver.connect(outputs)
    asked = whole(
        "runai-kit-llm",
        "inference",
        port=8000,
        minReplicas=0,
        maxReplicas=1,
        windowSeconds=20,
        initializationTimeoutSeconds=900,
        pvcs=[{"name": "models", "path": "/models"}],
        environment={"HOME": "/tmp"},
    )
    driver.submit(client, outputs, "vllm_inference", [asked])
    (seen,) = driver.own(client, outputs, "vllm_inference")
    assert told.url(seen) == URL
    assert told.row(seen) == {"type": "Inference", "status": "Running", "pods": "1/0-1", "gpus": 1}
    template = played.thing("Service")["spec"]["template"]
    assert {key.rpartition("/")[2]: value for key, value in template["metadata"]["annotations"].items()} == {
        **{"min-scale": "0", "max-scale": "1", "window": "20s"},
        "progress-deadline": "900s",
    }
    # Knative lets no request take longer.
    assert template["spec"]["timeoutSeconds"] == 600
    (container,) = template["spec"]["containers"]
    assert container["ports"] == [{"containerPort": 8000}]
    assert container["volumeMounts"][0]["readOnly"] is True
    assert template["metadata"]["labels"]["priorityClassName"] == "inference"


@pytest.mark.req("V13")
def test_workloads_of_another_test_are_left_alone(outputs: StackOutputs, played: Played) -> None:
    client = driver.connect(outputs)
    driver.submit(client, outputs, "one", [item("runai-kit-a")])
    driver.submit(client, outputs, "other", [whole("runai-kit-b", "workspace")])
    assert driver.ask_to_go(client, outputs, "one") == ["runai-kit-a"]
    assert driver.left(client, outputs, "one", 10) == []
    assert [w["name"] for w in driver.own(client, outputs)] == ["runai-kit-b"]


@pytest.mark.req("V13")
def test_nothing_is_submitted_when_one_cannot_be_stated(outputs: StackOutputs, played: Played) -> None:
    client = driver.connect(outputs)
    gang = item("runai-kit-b", gang=True, pods=2)
    with pytest.raises(ValueError, match="runai-kit-b: found gang, which driver runai cannot state"):
        driver.submit(client, outputs, "t", [item("runai-kit-a"), gang])
    with pytest.raises(ValueError, match="found pods, which driver runai cannot state of a workspace"):
        driver.submit(client, outputs, "t", [whole("runai-kit-b", "workspace", pods=2)])
    with pytest.raises(ValueError, match="found kind nim, expected training, workspace, inference"):
        driver.submit(client, outputs, "t", [whole("runai-kit-b", "nim")])
    with pytest.raises(ValueError, match="projects nobody: not in the control plane, which has team-a"):
        driver.submit(client, outputs, "t", [item("runai-kit-a"), item("runai-kit-b", project="nobody")])
    assert played.made == {}


@pytest.mark.req("V13")
@pytest.mark.parametrize(
    ("kind", "change", "why"),
    [
        ("inference", {"servingPort": {}}, "servingPort.container is mandatory"),
        ("inference", {"autoscaling": {"minReplicas": 3, "maxReplicas": 2}}, "maxReplicas is below"),
        ("inference", {"autoscaling": {"minReplicas": 1, "maxReplicas": 4}}, "metric is required"),
        ("workspace", {"exposedUrls": [{"toolType": "jupyter-notebook"}]}, "container is mandatory"),
        ("workspace", {"storage": {"secretVolume": [{"secret": "a"}]}}, "mountPath mandatory"),
        ("workspace", {"parallelism": 2}, "parallelism: not fields of a Workspace"),
        ("training", {"image": ""}, "spec.image is required"),
    ],
)
def test_the_double_refuses_what_the_document_does_not_allow(
    kind: str, change: Json, why: str, double: Double, outputs: StackOutputs, played: Played
) -> None:
    client: Client = double.client()
    project = next(client.pages("/api/v1/org-unit/projects", "projects"))
    asked = body(whole("runai-kit-a", kind), "t", project["id"], outputs.controlPlane.clusterId)
    path = f"/api/v1/workloads/{kind}s"
    with pytest.raises(RefusedError, match=why):
        client.post(path, {**asked, "spec": {**asked["spec"], **change}})
    assert played.made == {}


@pytest.mark.req("V13")
def test_a_workload_is_found_under_its_own_kind_only(outputs: StackOutputs, played: Played) -> None:
    client = driver.connect(outputs)
    (id_,) = driver.submit(client, outputs, "t", [item("runai-kit-a")])
    assert client.get(f"{TRAINING.path}/{id_}")["actualPhase"] == "Running"
    with pytest.raises(NotFoundError):
        client.get(f"{INFERENCE.path}/{id_}")


@pytest.mark.req("V13")
def test_what_is_missing_is_named(outputs: StackOutputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(driver.CLIENT_SECRET)
    with pytest.raises(OutputsError, match="KIT_RUNAI_CLIENT_SECRET are not both set"):
        driver.connect(outputs)
    with pytest.raises(OutputsError, match="name no control plane"):
        driver.connect(told_by(ControlPlane()))


@pytest.mark.req("V13")
def test_without_a_cluster_behind_it_the_double_says_so(double: Double, outputs: StackOutputs) -> None:
    client: Client = double.client()
    with pytest.raises(Exception, match="503 no cluster behind this double"):
        driver.submit(client, outputs, "t", [item("runai-kit-a")])


@pytest.mark.req("V13")
def test_the_guides_table_is_what_the_control_plane_has_to_tell() -> None:
    items = [
        item("half"),
        item("waits", gpuFraction=None, gpus=1, status="Pending"),
        whole("llm", "inference", minReplicas=0, maxReplicas=1, url=URL),
        whole("done", "training", status="Completed"),
    ]
    assert expect_told.expected(items)["workloads"] == {
        "half": {"type": "Training", "status": "Running", "pods": "1/1", "gpus": 0.5},
        "waits": {"type": "Training", "status": "Pending", "pods": "0/1", "gpus": 0},
        "llm": {"type": "Inference", "status": "Running", "pods": "1/0-1", "gpus": 1, "url": URL},
        "done": {"type": "Training", "status": "Completed", "pods": "0/1", "gpus": 0},
    }


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
    assert of_pods(pods) == found


@pytest.mark.req("V13", "V5")
@pytest.mark.parametrize(
    ("ready", "pods", "found"),
    [
        ("True", [], "Running"),
        ("Unknown", [pod("Running")], "Initializing"),
        ("False", [pod("Running")], "Degraded"),
        ("False", [pod("Pending", "False", "no GPU left")], "Pending"),
    ],
)
def test_phases_of_an_inference_are_those_of_its_service(ready: str, pods: list[Any], found: str) -> None:
    status = {"conditions": [{"type": "Ready", "status": ready, "reason": "r", "message": "m"}]}
    assert of_service(status, pods)[0] == found
