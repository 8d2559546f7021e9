"""Namespaces: ours are made, others' only labelled; levels from the catalog; a label change updates."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from components.cluster import NamespaceFacts
from components.labels import MANAGED_BY, SCHEDULED
from components.namespaces import NamespaceError, docker_config, wanted_namespaces
from components.profiles import parts
from tests.stack import CATALOG, EVERYTHING, LOCAL, changed, run_platform, settings

ENFORCE = "pod-security.kubernetes.io/enforce"
LEVELS = {
    "kai-scheduler": "baseline",
    "kai-resource-reservation": "baseline",
    "monitoring": "restricted",
    "gpu-operator": "privileged",
    "knative-serving": "restricted",
    "haproxy-controller": "restricted",
    "runai-team-a": "baseline",
    "runai-test": "baseline",
}


@pytest.mark.req("I1")
def test_every_namespace_is_made_with_its_level_and_the_kits_label(tmp_path: Path) -> None:
    found = {item.name: item.inputs["metadata"] for item in run_platform(tmp_path).of_type("Namespace")}
    assert {name: meta["labels"][ENFORCE] for name, meta in found.items()} == LEVELS
    for name, meta in found.items():
        assert meta["name"] == name
        assert MANAGED_BY.items() <= meta["labels"].items()
        assert meta["labels"]["pod-security.kubernetes.io/warn"] == "restricted"
        assert meta["labels"]["pod-security.kubernetes.io/audit"] == "restricted"


@pytest.mark.req("I2")
def test_only_project_namespaces_carry_what_kai_selects(tmp_path: Path) -> None:
    found = {
        item.name: item.inputs["metadata"]["labels"] for item in run_platform(tmp_path).of_type("Namespace")
    }
    assert {name for name, labels in found.items() if SCHEDULED.items() <= labels.items()} == {
        "runai-team-a",
        "runai-test",
    }
    assert found["runai-team-a"]["runai-kit.io/project"] == "team-a"


@pytest.mark.req("I1")
@pytest.mark.req("I14")
def test_a_namespace_that_was_there_is_patched_and_never_owned(tmp_path: Path) -> None:
    run = run_platform(tmp_path, existing={"monitoring": NamespaceFacts({"team": "ops"})})
    assert "monitoring" not in {item.name for item in run.of_type("Namespace")}
    patch = run.one("NamespacePatch", "monitoring").inputs["metadata"]
    assert patch["labels"][ENFORCE] == "restricted"
    assert not MANAGED_BY.items() & patch["labels"].items()
    assert [item["name"] for item in run.value["namespaces"] if item["existedBefore"]] == ["monitoring"]


@pytest.mark.req("I14")
def test_our_own_namespaces_stay_ours_at_the_next_run(tmp_path: Path) -> None:
    ours = {name: NamespaceFacts(dict(MANAGED_BY)) for name in LEVELS}
    run = run_platform(tmp_path, existing=ours)
    assert {item.name for item in run.of_type("Namespace")} == set(LEVELS)
    assert run.of_type("NamespacePatch") == []


@pytest.mark.req("I14")
def test_a_foreign_namespace_stays_foreign_after_we_labelled_it(tmp_path: Path) -> None:
    labels = {ENFORCE: "baseline", "team": "ops"}
    patched = NamespaceFacts(labels, frozenset({ENFORCE}))
    run = run_platform(tmp_path, existing={"monitoring": patched})
    assert run.one("NamespacePatch", "monitoring").inputs["metadata"]["labels"][ENFORCE] == "restricted"


@pytest.mark.req("I1")
def test_somebody_elses_level_is_not_overwritten(tmp_path: Path) -> None:
    strict = NamespaceFacts({ENFORCE: "restricted"})
    with pytest.raises(
        NamespaceError, match=f"namespace gpu-operator: found {ENFORCE}=restricted, set by somebody"
    ):
        run_platform(tmp_path, existing={"gpu-operator": strict})


def test_where_parts_share_a_namespace_the_laxest_level_counts() -> None:
    lax = CATALOG.parts["fake-gpu"].model_copy(
        update={"namespaces": {"monitoring": CATALOG.parts["fake-gpu"].namespaces["gpu-operator"]}}
    )
    catalog = CATALOG.model_copy(update={"parts": dict(CATALOG.parts) | {"fake-gpu": lax}})
    chosen = settings(LOCAL)
    levels = {
        item.name: item.psa
        for item in wanted_namespaces(chosen, catalog, list(parts(chosen, catalog).values()))
    }
    assert levels["monitoring"] == "privileged"


@pytest.mark.req("I13")
def test_credentials_go_into_every_namespace_as_a_secret(tmp_path: Path) -> None:
    values = changed(LOCAL, "registry", EVERYTHING["registry"])
    run = run_platform(tmp_path, values)
    secrets = [item for item in run.of_type("Secret") if item.name.endswith("-runai-kit-registry")]
    assert {item.inputs["metadata"]["namespace"] for item in secrets} == set(LEVELS)
    assert all(item.inputs["type"] == "kubernetes.io/dockerconfigjson" for item in secrets)
    assert run.one("Secret", "monitoring-runai-kit-registry").depends_on == {"monitoring"}
    without = [item.name for item in run_platform(tmp_path).of_type("Secret")]
    assert not [name for name in without if name.endswith("-runai-kit-registry")]


@pytest.mark.req("I13")
def test_docker_credentials_name_the_mirrors_host() -> None:
    config = json.loads(docker_config(settings(EVERYTHING).registry))
    entry = config["auths"]["harbor.example.test"]
    assert base64.b64decode(entry["auth"]).decode() == "robot:pass word"


@pytest.mark.req("I14")
def test_a_namespace_that_is_being_deleted_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    leaving = {"knative-serving": NamespaceFacts(MANAGED_BY, deleting=True)}
    with pytest.raises(NamespaceError, match="knative-serving: found being deleted, nothing was changed"):
        run_platform(tmp_path, existing=leaving)
