"""The whole platform: one tree, one explicit provider, outputs for the inventory, and the entry point."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from components import connect as connect_module
from components.cluster import ClusterFacts
from tests.mocks import Run, run_program
from tests.stack import (
    EVERYTHING,
    LOCAL,
    FakeCluster,
    changed,
    engine_env,
    kept_secrets,
    nodes,
    run_platform,
    write_bundle,
    write_knative,
)

ROOT = Path(__file__).parents[3]


@pytest.mark.req("I14")
def test_every_resource_hangs_below_the_platform(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    parents = {item.name: item.parent for item in run.resources if item.type.startswith("runai-kit:")}
    top = {"cluster", "namespaces", "fake-gpus", "monitoring", "scheduler", "queues"}
    top |= {"certificates", "ingress", "inference", "controls"}
    assert run.children_of("runai-kit") == top
    assert set(parents) == top - {"cluster"} | {"runai-kit", "state-metrics"}
    for item in run.resources:
        assert item.name == "runai-kit" or item.parent in {"runai-kit", *parents}, item


@pytest.mark.req("E3")
def test_the_provider_names_its_cluster(tmp_path: Path) -> None:
    provider = run_platform(tmp_path).one("kubernetes", "cluster").inputs
    assert provider["context"] == provider["clusterIdentifier"] == "kind-x"
    assert provider["kubeconfig"] == "build/kubeconfig"
    assert json.loads(provider["enableServerSideApply"]) is True
    assert json.loads(provider["deleteUnreachable"]) is False
    assert json.loads(provider["kubeClientSettings"]) == {"qps": 100, "burst": 200}


@pytest.mark.req("I1")
def test_namespaces_come_before_every_chart(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    namespaces = {item.name for item in run.of_type("Namespace") if not item.name.startswith("runai-")}
    for component in ("fake-gpus", "monitoring", "scheduler", "certificates", "ingress", "inference"):
        (found,) = [
            item for item in run.resources if item.name == component and item.type.startswith("runai-kit:")
        ]
        assert namespaces <= found.depends_on, component


@pytest.mark.req("I14")
def test_projects_go_before_what_their_workloads_need_to_end(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    for name in ("runai-team-a", "runai-test"):
        after = run.one("Namespace", name).depends_on
        assert {"queue-team-a", "kai-config", "webhook", "haproxy"} <= run.reached(after), name


@pytest.mark.req("I13")
def test_the_outputs_are_what_the_inventory_reads(tmp_path: Path) -> None:
    outputs = run_platform(tmp_path).value
    assert json.loads(json.dumps(outputs)) == outputs
    assert {
        key: outputs[key] for key in ("environment", "context", "kubeconfig", "profile", "driver", "domain")
    } == {
        "environment": "test",
        "context": "kind-x",
        "kubeconfig": "build/kubeconfig",
        "profile": "modular",
        "driver": "kai",
        "domain": "apps.example.test",
    }
    assert outputs["capacitySource"] == "live"
    assert outputs["capacityGpus"] == 8
    assert outputs["gpuSharing"] is True
    assert outputs["projects"][0] == {
        "name": "team-a",
        "department": "engineering",
        "namespace": "runai-team-a",
        "queue": "team-a",
        "gpu": {"deserved": 2, "limit": 4, "overQuotaWeight": 1},
        "nodePool": "",
    }
    assert outputs["departments"][1] == {
        "name": "default",
        "queue": "default",
        "nodePool": "",
        "gpu": {"deserved": -1, "limit": -1, "overQuotaWeight": 1},
    }
    assert outputs["expectedGpus"] == {"worker1": 4, "worker2": 4}
    told = outputs["monitoring"]
    assert (told["enabled"], told["namespace"]) == (True, "monitoring")
    assert (told["prometheusService"], told["prometheusPort"]) == ("prometheus-operated", 9090)
    assert outputs["clusterKind"] in ("local", "kind", "vks", "other")
    assert outputs["support"]["kubernetes"]["min"]
    assert outputs["reservationNamespace"] == "kai-resource-reservation"
    assert outputs["projectNamespaceLabels"] == {"runai-kit.io/scheduler": "kai-scheduler"}


@pytest.mark.req("V12")
@pytest.mark.parametrize(
    ("source", "provenance"), [("packages", "built-from-packages"), ("upstream", "upstream")]
)
def test_provenance_says_who_built_the_images_and_what_pretends(
    source: str, provenance: str, tmp_path: Path
) -> None:
    outputs = run_platform(tmp_path, changed(LOCAL, "images", {"source": source})).value
    found = {item["name"]: item["provenance"] for item in outputs["components"]}
    assert found == {
        "kai-scheduler": provenance,
        "prometheus-operator": provenance,
        "prometheus": provenance,
        "kube-state-metrics": provenance,
        "knative-serving": provenance,
        "net-kourier": provenance,
        "envoy": provenance,
        "haproxy": provenance,
        "fake-gpu": "fake",
    }


@pytest.mark.req("I13")
def test_the_test_image_follows_the_mirror_unless_it_is_given(tmp_path: Path) -> None:
    values = changed(LOCAL, "registry.prefix", "harbor.test/m")
    image = "nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04"
    assert run_platform(tmp_path).value["images"]["cuda"] == image
    assert run_platform(tmp_path, values).value["images"]["cuda"] == f"harbor.test/m/{image}"
    given = changed(values, "images.cuda", "own/cuda:1")
    assert run_platform(tmp_path, given).value["images"]["cuda"] == "own/cuda:1"


@pytest.mark.req("I14")
def test_two_runs_ask_for_the_same(tmp_path: Path) -> None:
    first = run_platform(tmp_path)
    second = run_platform(tmp_path, cluster=FakeCluster(secrets=kept_secrets(first)))
    assert {item.name + item.type: item.inputs for item in first.resources} == {
        item.name + item.type: item.inputs for item in second.resources
    }


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the project's `__main__.py` with given settings in a project folder with the chart files."""
    write_bundle(tmp_path)
    write_knative(tmp_path)
    (tmp_path / "charts" / "kai-scheduler-0.12.0.tgz").write_text("")
    monkeypatch.chdir(tmp_path)

    def run(values: dict[str, Any], run: Run | None = None) -> Any:
        for key, value in engine_env(values).items():
            monkeypatch.setenv(key, value)
        program = lambda: runpy.run_path(str(ROOT / "__main__.py"), run_name="__main__") and None  # noqa: E731
        return run_program(program, run=run)

    return run


def test_the_entry_point_declares_the_platform(entry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = ClusterFacts("v1.34.9", nodes(4, 4), {})
    monkeypatch.setattr(connect_module, "connect", lambda settings, root: (FakeCluster(), facts))
    run = entry(LOCAL)
    assert run.one("Queue", "queue-team-a").inputs["spec"]["parentQueue"] == "engineering"


@contextmanager
def refused(words: str, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The program ends as the language host expects after a message of its own: 32, and no traceback."""
    with pytest.raises(SystemExit) as caught:
        yield
    assert caught.value.code == 32
    # asyncio tells of tasks that earlier tests left behind whenever these are collected.
    said = [record for record in caplog.records if record.levelname == "ERROR" and record.name != "asyncio"]
    (message,) = [record.getMessage() for record in said]
    assert words in message


@pytest.mark.req("I13")
def test_wrong_settings_register_nothing_and_never_reach_the_cluster(
    entry: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def reached(settings: object, root: Path) -> None:
        raise AssertionError("the cluster was asked")

    monkeypatch.setattr(connect_module, "connect", reached)
    run = Run()
    with refused("runai-kit:domain: found nothing", caplog):
        entry(changed(EVERYTHING, "domain", ...), run)
    assert run.resources == []


@pytest.mark.req("I14")
def test_no_cluster_registers_nothing(entry: Any, caplog: pytest.LogCaptureFixture) -> None:
    run = Run()
    with refused("found no file build/kubeconfig", caplog):
        entry(LOCAL, run)
    assert run.resources == []


@pytest.mark.req("I14")
def test_nodes_that_cannot_pretend_register_nothing(
    entry: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    facts = ClusterFacts("v1.34.9", nodes()[:1], {})
    monkeypatch.setattr(connect_module, "connect", lambda settings, root: (FakeCluster(), facts))
    run = Run()
    with refused("label the nodes", caplog):
        entry(LOCAL, run)
    assert run.resources == []
