"""Each rule on rendered objects, kept and broken; and the kit's own objects under them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from components.catalog import Psa
from policy.objects import images, pod_of, title
from policy.rules import check, config_in_step
from tests.rules.test_pod_security import GOOD
from tests.stack import CATALOG, LOCAL, changed, run_platform

IMAGE = "ghcr.io/nvidia/kai-scheduler/operator:v0.12.0"
LEVELS: dict[str, Psa] = {"strict": "restricted", "open": "privileged"}


def deployment(namespace: str = "strict", image: str = IMAGE, **pod: Any) -> dict[str, Any]:
    spec = copy.deepcopy(GOOD) | pod
    spec["containers"][0]["image"] = image
    return {
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": namespace},
        "spec": {"template": {"spec": spec}},
    }


def broken(*objects: dict[str, Any], mirror: str = "") -> list[str]:
    return [str(item) for item in check(objects, LEVELS, CATALOG, mirror)]


def test_a_good_object_breaks_nothing() -> None:
    assert broken(deployment()) == []


@pytest.mark.req("I1")
def test_a_pod_that_its_namespace_refuses() -> None:
    (line,) = broken(deployment(hostNetwork=True))
    assert (
        line == "pod-security: Deployment strict/d: found hostNetwork; expected a pod that restricted admits"
    )


@pytest.mark.req("I1")
def test_a_namespace_that_is_laxer_than_its_pods_need() -> None:
    (line,) = broken(deployment("open"))
    assert line == "needless-relaxation: Namespace open: found privileged; expected restricted"
    assert broken(deployment("open"), deployment("open", hostPID=True)) == []


@pytest.mark.req("I1")
def test_an_object_or_namespace_outside_the_catalog() -> None:
    lines = broken(
        {"kind": "ConfigMap", "metadata": {"name": "c", "namespace": "elsewhere"}},
        {"kind": "Namespace", "metadata": {"name": "surprise"}},
        {"kind": "ClusterRole", "metadata": {"name": "r"}},
    )
    assert [line.split(":")[1] for line in lines] == [" ConfigMap elsewhere/c", " Namespace surprise"]


@pytest.mark.req("I13")
@pytest.mark.parametrize("image", ["quay.io/a/b:latest", "quay.io/a/b", "busybox:1", "busybox"])
def test_an_image_that_moves(image: str) -> None:
    assert any(
        line.startswith(f"pinned-images: Deployment strict/d: found {image};")
        for line in broken(deployment(image=image))
    )


def test_a_digest_is_a_pin() -> None:
    lines = broken(deployment(image=f"quay.io/a/b@sha256:{'0' * 64}"))
    assert [line.split(":")[0] for line in lines] == ["registries"]


@pytest.mark.req("I13")
def test_an_image_that_the_catalog_does_not_list() -> None:
    (line,) = broken(deployment(image="quay.io/other/thing:v1"))
    assert line.startswith(
        "registries: Deployment strict/d: found quay.io/other/thing:v1; expected an image of the catalog"
    )


@pytest.mark.req("I13")
def test_with_a_mirror_the_upstream_registry_is_foreign() -> None:
    (line,) = broken(deployment(), mirror="harbor.test/m")
    assert line.startswith("registries:")
    assert line.endswith("below harbor.test/m")
    assert broken(deployment(image=f"harbor.test/m/{IMAGE}"), mirror="harbor.test/m") == []


@pytest.mark.req("I13")
def test_images_hidden_in_arguments_and_configs_are_found() -> None:
    hidden = deployment()
    hidden["spec"]["template"]["spec"]["containers"][0]["args"] = [
        "--reloader=quay.io/x/reloader:v1",
        "--url=https://quay.io/not/an/image",
        "--flag=value",
    ]
    assert images(hidden) == [IMAGE, "quay.io/x/reloader:v1"]
    config = {
        "kind": "Config",
        "spec": {"binder": {"image": {"repository": "r.test/kai", "name": "binder", "tag": "v1"}}},
    }
    assert images(config) == ["r.test/kai/binder:v1"]
    assert images({"kind": "CustomResourceDefinition", "spec": {"image": "x"}}) == []


@pytest.mark.req("I13")
def test_a_config_may_name_parts_of_kai_that_are_off_but_no_other_registry() -> None:
    def config(repository: str) -> dict[str, Any]:
        image = {"repository": repository, "name": "nodescaleadjuster", "tag": "v0.12.0"}
        return {"kind": "Config", "metadata": {}, "spec": {"x": {"image": image}}}

    assert broken(config("ghcr.io/nvidia/kai-scheduler")) == []
    assert [line.split(":")[0] for line in broken(config("registry.test/local"))] == ["registries"]


@pytest.mark.req("I1")
def test_kais_operands_are_judged_by_the_context_that_config_gives_them() -> None:
    def config(context: dict[str, Any]) -> dict[str, Any]:
        return {
            "apiVersion": "kai.scheduler/v1",
            "kind": "Config",
            "metadata": {"name": "kai-config", "namespace": "strict"},
            "spec": {"namespace": "strict", "global": {"securityContext": context}},
        }

    (line,) = broken(config({}))
    assert "capabilities ALL not dropped" in line
    assert "no seccomp profile" in line
    good = {"capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
    assert broken(config(good)) == []


@pytest.mark.req("I14")
def test_what_the_chart_writes_into_config_must_be_stated_too() -> None:
    rendered = {
        "kind": "Config",
        "metadata": {"name": "kai-config"},
        "spec": {"a": {"b": 1, "c": [2]}, "d": True},
    }
    assert list(config_in_step([rendered], {"a": {"b": 1, "c": [2], "more": 3}, "d": True})) == []
    assert [str(item) for item in config_in_step([rendered], {"a": {"b": 9, "c": [2]}})] == [
        "config-in-step: Config kai-config a.b: found 9; expected 1",
        "config-in-step: Config kai-config d: found {}; expected True",
    ]
    assert list(config_in_step([rendered], None)) == []


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job"])
def test_the_pod_of_every_kind_that_makes_pods(kind: str) -> None:
    assert pod_of({"kind": kind, "spec": {"template": {"spec": {"a": 1}}}}) == {"a": 1}
    assert title({"kind": kind, "metadata": {"name": "n"}}) == f"{kind} n"


def test_pods_of_pods_and_cron_jobs_and_of_nothing_else() -> None:
    assert pod_of({"kind": "Pod", "spec": {"a": 1}}) == {"a": 1}
    cron = {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": {"a": 1}}}}}}
    assert pod_of(cron) == {"a": 1}
    assert pod_of({"kind": "Service", "spec": {}}) is None


@pytest.mark.req("I1")
@pytest.mark.req("I13")
def test_the_kits_own_objects_keep_the_rules(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    levels = {item["name"]: item["psa"] for item in run.value["namespaces"]}
    objects = [item.inputs for item in run.resources if "metadata" in item.inputs]
    assert [str(item) for item in check(objects, levels, CATALOG, "")] == []
    assert {"DaemonSet", "Deployment", "Prometheus"} <= {obj["kind"] for obj in objects}


@pytest.mark.req("I13")
def test_the_kits_own_objects_name_only_the_mirror(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(LOCAL, "registry.prefix", "harbor.test/m"))
    levels = {item["name"]: item["psa"] for item in run.value["namespaces"]}
    objects = [item.inputs for item in run.resources if "metadata" in item.inputs]
    assert check(objects, levels, CATALOG, "harbor.test/m") == []
