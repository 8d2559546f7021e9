"""Rules on what add-ons bring: images in custom resources, operators' pods, levels the vendor asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.catalog import Psa
from policy.objects import images
from policy.render import named_images, read_stack
from policy.rules import chart_images, check
from tests.full import FULL
from tests.rules.test_policy_rules import deployment
from tests.stack import CATALOG, LOCAL, changed, settings


def cluster_policy(repository: str = "nvcr.io/nvidia") -> dict[str, Any]:
    return {
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy"},
        "spec": {
            "dcgm": {
                "repository": "nvcr.io/nvidia/cloud-native",
                "image": "dcgm",
                "version": "4.6.1-1-ubuntu24.04",
            },
            "driver": {
                "repository": repository,
                "image": "driver",
                "version": "615.10",
                "manager": {"repository": "r.test", "image": "m", "version": "v1"},
            },
        },
    }


@pytest.mark.req("I6", "I13")
def test_images_of_a_custom_resource_in_three_parts_are_found() -> None:
    assert images(cluster_policy()) == [
        "nvcr.io/nvidia/cloud-native/dcgm:4.6.1-1-ubuntu24.04",
        "nvcr.io/nvidia/driver:615.10",
        "r.test/m:v1",
    ]


@pytest.mark.req("I13")
def test_images_under_other_names_are_found() -> None:
    obj = {
        "kind": "KRMConfig",
        "spec": {"args": {"scalingPodImage": "ghcr.io/a/scalingpod:v1", "aImage": "no"}},
    }
    assert images(obj) == ["ghcr.io/a/scalingpod:v1"]


@pytest.mark.req("I1", "I6")
def test_an_operators_pods_count_for_its_namespace() -> None:
    levels: dict[str, Psa] = {"gpu-operator": "privileged", "strict": "restricted"}
    rule = "needless-relaxation"
    with_policy = [str(item) for item in check([cluster_policy()], levels, CATALOG, "")]
    assert not [line for line in with_policy if line.startswith(rule)]
    alone = [str(item) for item in check([deployment("gpu-operator")], levels, CATALOG, "")]
    assert [line for line in alone if line.startswith(rule)]


@pytest.mark.req("I1", "I8")
def test_a_level_that_the_vendor_asks_for_is_not_needless() -> None:
    levels: dict[str, Psa] = {"runai-backend": "privileged"}
    assert not list(check([deployment("runai-backend")], levels, CATALOG, ""))


@pytest.mark.req("I13")
def test_the_driver_of_the_settings_is_known_and_no_other() -> None:
    values = changed(LOCAL, "gpuOperator", {"source": "install", "driver": {"version": "615.10"}})
    chosen = named_images(settings(changed(values, "fakeGpus", {})), CATALOG)
    assert chosen == {"nvcr.io/nvidia/driver:615.10", "nvcr.io/nvidia/driver:615.10-ubuntu24.04"}
    assert named_images(settings(LOCAL), CATALOG) == frozenset()


@pytest.mark.req("I13")
def test_a_charts_own_images_have_to_come_from_the_mirror() -> None:
    objects = [deployment("runai", "harbor.test/m/nvcr.io/a:1"), deployment("runai", "nvcr.io/b:1")]
    assert chart_images(objects, "harbor.test/m") == {"harbor.test/m/nvcr.io/a:1"}
    assert chart_images(objects, "") == {"harbor.test/m/nvcr.io/a:1", "nvcr.io/b:1"}


@pytest.mark.req("I13")
def test_encrypted_settings_can_be_read_for_rendering(tmp_path: Path) -> None:
    values = changed(FULL, "controlPlane.admin.password", {"secure": "v1:abc"})
    path = tmp_path / "Pulumi.test.yaml"
    path.write_text(yaml.safe_dump({"config": {f"runai-kit:{key}": value for key, value in values.items()}}))
    assert read_stack(path).control_plane.admin.password.get_secret_value() == "encrypted"
