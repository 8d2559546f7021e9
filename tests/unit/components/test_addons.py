"""Add-ons as the stack declares them: values, order, and objects that their operands name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.addons.gpu_values import COUNTERS, DRIVER_SECRET, LICENCE_SECRET, PLUGIN_CONFIG
from tests.mocks import Run
from tests.stack import LOCAL, changed, plain, run_platform

MANIFESTS = Path(__file__).parents[2] / "fixtures"


def stack(**changes: Any) -> dict[str, Any]:
    """LOCAL with a scheduler and nodes of a real cluster, and these dotted paths changed."""
    values = changed(changed(LOCAL, "fakeGpus", {}), "scheduler.version", "0.18.6")
    for path, value in changes.items():
        values = changed(values, path.replace("__", "."), value)
    return values


def run(root: Path, **changes: Any) -> Run:
    for name in ("training-operator-1.9.4", "mpi-operator-0.8.0"):
        text = (MANIFESTS / f"{name}.yaml").read_text(encoding="utf-8")
        (root / "charts").mkdir(exist_ok=True)
        (root / "charts" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return run_platform(root, stack(**changes))


def installed(root: Path, **changes: Any) -> Run:
    return run(root, gpuOperator={"source": "install"}, **changes)


@pytest.mark.req("I6")
def test_the_gpu_operator_is_left_alone_unless_the_stack_installs_it(tmp_path: Path) -> None:
    assert not [item for item in run(tmp_path).resources if "gpu-operator" in item.name]
    release = installed(tmp_path).one("Release", "gpu-operator-release")
    assert release.inputs["namespace"] == "gpu-operator"
    assert release.inputs["values"]["cdi"] == {"enabled": True, "nriPluginEnabled": False}
    assert release.inputs["values"]["driver"]["licensingConfig"]["secretName"] == ""


@pytest.mark.req("I6")
def test_what_operands_name_is_there_before_the_operator(tmp_path: Path) -> None:
    made = installed(
        tmp_path,
        gpuOperator__mode="vgpu",
        gpuOperator__driver={"version": "570.172.08", "password": "ngc key"},
        gpuOperator__licence={"token": "tok", "gridd": "FeatureType=1"},
        sharing="timeSlicing",
    )
    release = made.one("Release", "gpu-operator-release")
    assert {COUNTERS, LICENCE_SECRET, PLUGIN_CONFIG} <= release.depends_on
    assert (
        "DCGM_FI_DEV_VGPU_MEMORY_USAGE" in made.one("ConfigMap", COUNTERS).inputs["data"]["dcgm-metrics.csv"]
    )
    licence = plain(made.one("Secret", LICENCE_SECRET).inputs["stringData"])
    assert licence == {"gridd.conf": "FeatureType=1", "client_configuration_token.tok": "tok"}
    assert release.inputs["values"]["driver"]["image"] == "vgpu-guest-driver"
    assert "timeSlicing:" in made.one("ConfigMap", PLUGIN_CONFIG).inputs["data"]["shared"]


@pytest.mark.req("I6", "I13")
@pytest.mark.parametrize(
    ("driver", "host", "user"),
    [
        ({"password": "ngc key"}, "nvcr.io", "$oauthtoken"),
        (
            {"password": "word", "username": "robot", "repository": "own.test:5000/nvidia"},
            "own.test:5000",
            "robot",
        ),
    ],
)
def test_a_driver_image_behind_a_login_is_pulled_with_it(
    driver: dict[str, str], host: str, user: str, tmp_path: Path
) -> None:
    made = installed(
        tmp_path,
        gpuOperator__mode="vgpu",
        gpuOperator__driver={"version": "570.172.08", **driver},
        gpuOperator__licence={"token": "tok"},
    )
    secret = made.one("Secret", DRIVER_SECRET)
    assert secret.inputs["metadata"]["namespace"] == "gpu-operator"
    assert secret.inputs["type"] == "kubernetes.io/dockerconfigjson"
    auths = json.loads(plain(secret.inputs["stringData"])[".dockerconfigjson"])["auths"]
    assert (auths[host]["username"], auths[host]["password"]) == (user, driver["password"])
    release = made.one("Release", "gpu-operator-release")
    assert DRIVER_SECRET in release.depends_on
    assert release.inputs["values"]["driver"]["imagePullSecrets"] == [DRIVER_SECRET]
    assert release.inputs["values"]["toolkit"]["imagePullSecrets"] == []


@pytest.mark.req("I6", "I13")
def test_the_drivers_login_is_beside_the_mirrors(tmp_path: Path) -> None:
    mirror = {"prefix": "harbor.test/m", "username": "robot", "password": "word"}
    own = {"repository": "own.test/nvidia", "username": "other", "password": "word"}
    made = installed(tmp_path, registry=mirror, gpuOperator__driver=own)
    driver = made.one("Release", "gpu-operator-release").inputs["values"]["driver"]
    assert driver["imagePullSecrets"] == ["runai-kit-registry", DRIVER_SECRET]


@pytest.mark.req("I6")
def test_a_vgpu_driver_of_the_node_image_has_its_licence_there(tmp_path: Path) -> None:
    made = installed(tmp_path, gpuOperator__mode="vgpu", gpuOperator__driver={"source": "host"})
    driver = made.one("Release", "gpu-operator-release").inputs["values"]["driver"]
    assert (driver["enabled"], driver["licensingConfig"]["secretName"]) == (False, "")
    assert LICENCE_SECRET not in {item.name for item in made.of_type("Secret")}


@pytest.mark.req("I6")
def test_the_counters_can_be_the_stacks_own(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("DCGM_FI_DEV_GPU_UTIL, gauge, Use.\n")
    made = installed(tmp_path, gpuOperator__counters="own.csv")
    assert made.one("ConfigMap", COUNTERS).inputs["data"] == {
        "dcgm-metrics.csv": "DCGM_FI_DEV_GPU_UTIL, gauge, Use.\n"
    }


@pytest.mark.req("I5", "I12")
def test_operators_come_before_the_scheduler_and_grove_after_it(tmp_path: Path) -> None:
    made = installed(
        tmp_path,
        leaderWorkerSet={"enabled": True},
        grove={"enabled": True},
        workloadMap={"enabled": True},
        sharing="fractioning",
        gpuOperator__driver={"version": "615.10"},
    )
    scheduler = made.one("Release", "kai-scheduler")
    assert {"gpu-operator-release", "lws-release"} <= made.reached(
        made.one("Scheduler", "scheduler").depends_on
    )
    for kind, name in (
        ("Grove", "grove"),
        ("WorkloadMap", "workload-map"),
        ("GpuFractioning", "gpu-fractioning"),
    ):
        assert {"kai-scheduler", "shard-default"} <= made.reached(made.one(kind, name).depends_on)
    assert scheduler.inputs["values"]["global"]["gpuSharingMode"] == "NvFractions"


@pytest.mark.req("I13")
def test_groves_operator_is_pulled_with_the_mirrors_login(tmp_path: Path) -> None:
    mirror = {"prefix": "harbor.test/m", "username": "robot", "password": "word"}
    made = run(tmp_path, registry=mirror, grove={"enabled": True})
    values = made.one("Release", "grove-release").inputs["values"]
    assert values["imagePullSecrets"] == [{"name": "runai-kit-registry"}]


@pytest.mark.req("I5")
@pytest.mark.parametrize(
    ("sharing", "mode"),
    [("none", "Disabled"), ("reservation", "NonMemoryEnforced"), ("hami", "HamiCore"), ("mig", "Disabled")],
)
def test_one_word_decides_who_divides_a_gpu(sharing: str, mode: str, tmp_path: Path) -> None:
    made = installed(tmp_path, sharing=sharing)
    assert made.one("Release", "kai-scheduler").inputs["values"]["global"]["gpuSharingMode"] == mode
    operator = made.one("Release", "gpu-operator-release").inputs["values"]
    assert operator["migManager"]["enabled"] is (sharing == "mig")
    assert not made.of_type("GpuFractioning")


@pytest.mark.req("I4")
def test_resource_management_takes_the_place_of_scheduler_and_queues(tmp_path: Path) -> None:
    made = run(tmp_path, resourceManagement={"enabled": True})
    assert not made.of_type("Queue")
    assert not [item for item in made.of_type("Release") if item.name == "kai-scheduler"]
    values = made.one("Release", "kai-resource-management-release").inputs["values"]
    assert values["projectController"]["features"]["createNamespaces"] is False
    assert values["kai-scheduler"]["defaultShard"] == {"enabled": False}
    # The chart would render the reservation pods' account at every second upgrade only.
    reservation = values["kai-scheduler"]["global"]["resourceReservation"]
    assert reservation["createServiceAccount"] is False
    account = made.one("ServiceAccount", "reservation-account")
    assert account.inputs["metadata"]["name"] == reservation["serviceAccount"]
    assert "reservation-account" in made.one("Release", "kai-resource-management-release").depends_on
    team = made.one("Project", "project-team-a")
    assert team.inputs["spec"] == {
        "parent": "engineering",
        "namespace": "runai-team-a",
        "defaultNodePools": ["default"],
        "enforceKaiScheduler": True,
        "queues": [
            {
                "name": "team-a",
                "nodepool": "default",
                "resources": {
                    "gpu": {"deserved": 2, "limit": 4, "overQuotaWeight": 1},
                    "cpu": {"deserved": -1, "limit": -1, "overQuotaWeight": 1},
                    "memory": {"deserved": -1, "limit": -1, "overQuotaWeight": 1},
                },
            }
        ],
    }
    assert "department-engineering" in team.depends_on
    # Workloads go first when the stack goes: KRM keeps a project that runs something.
    assert "project-team-a" in made.reached(made.one("Namespace", "runai-team-a").depends_on)
    namespaces = {item["name"] for item in made.value["namespaces"]}
    assert "kai-resource-management" in namespaces
    assert "kai-scheduler" not in namespaces


@pytest.mark.req("I4")
def test_each_node_pool_is_one_of_krms(tmp_path: Path) -> None:
    pools = {"pools": [{"name": "a100", "placement": {"gpu": "spread", "cpu": "spread"}}]}
    made = run(tmp_path, resourceManagement={"enabled": True}, nodePools=pools)
    assert made.one("NodePool", "nodepool-a100").inputs["spec"] == {
        "labelKey": "kai.scheduler/node-pool",
        "labelValue": "a100",
        "schedulingShardConfig": {"placementStrategy": {"gpu": "spread", "cpu": "spread"}},
    }


@pytest.mark.req("I12")
def test_only_one_operator_defines_mpi_jobs(tmp_path: Path) -> None:
    alone = run(tmp_path, trainingOperator={"enabled": True})
    assert _crds(alone) == {"mpijobs.kubeflow.org", "pytorchjobs.kubeflow.org"}
    assert not _arguments(alone)
    both = run(tmp_path, trainingOperator={"enabled": True}, mpiOperator={"enabled": True})
    assert sorted(
        item.name for item in both.of_type("CustomResourceDefinition") if "kubeflow" in item.name
    ) == [
        "mpi-operator-customresourcedefinition-mpijobs.kubeflow.org",
        "training-operator-customresourcedefinition-pytorchjobs.kubeflow.org",
    ]
    assert "--enable-scheme=pytorchjob" in _arguments(both)
    assert "--enable-scheme=mpijob" not in _arguments(both)
    kept = [item for item in both.of_type("CustomResourceDefinition") if "kubeflow" in item.name]
    assert all(item.retain_on_delete for item in kept)


def _crds(made: Run) -> set[str]:
    names = {item.inputs["metadata"]["name"] for item in made.of_type("CustomResourceDefinition")}
    return {name for name in names if name.endswith(".kubeflow.org")}


def _arguments(made: Run) -> list[str]:
    deployment = made.one("Deployment", "training-operator-deployment-training-operator")
    found: list[str] = deployment.inputs["spec"]["template"]["spec"]["containers"][0].get("args", [])
    return found
