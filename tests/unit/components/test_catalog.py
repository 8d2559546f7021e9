"""The catalog by itself: consistent, and with a reason for every relaxed namespace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from components.catalog import Catalog, load_catalog, mirrored
from components.profiles import parts
from components.scheduler import GENERATIONS
from tests.stack import LOCAL, settings

FILE = Path(__file__).parents[3] / "components" / "catalog.yaml"


def broken(change: dict[str, Any], part: str = "fake-gpu") -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    data["parts"][part] |= change
    return data


@pytest.mark.req("I1")
def test_a_relaxed_namespace_needs_a_reason() -> None:
    with pytest.raises(ValidationError, match="level privileged without `why`"):
        Catalog.model_validate(broken({"namespaces": {"gpu-operator": {"psa": "privileged"}}}))


def test_a_requirement_must_be_in_the_catalog() -> None:
    with pytest.raises(ValidationError, match="fake-gpu requires nowhere"):
        Catalog.model_validate(broken({"requires": ["nowhere"]}))


@pytest.mark.parametrize("image", ["fake-gpu:1", "kind.local/fake-gpu", "kind.local/fake gpu:1"])
def test_an_image_needs_a_registry_and_a_tag(image: str) -> None:
    with pytest.raises(ValidationError, match=r"parts\.fake-gpu\.images"):
        Catalog.model_validate(broken({"images": {"fake-gpu": image}}))


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="colour"):
        Catalog.model_validate(broken({"colour": "red"}))


@pytest.mark.req("I2")
def test_every_scheduler_version_has_a_values_builder_and_one_registry() -> None:
    catalog = load_catalog()
    versions = catalog.generations("kai-scheduler")
    assert {".".join(version.split(".")[:2]) for version in versions} == set(GENERATIONS)
    for key in versions.values():
        part = catalog.parts[key]
        assert {image.rsplit("/", 1)[0] for image in part.images.values()} == {
            part.images["operator"].rsplit("/", 1)[0]
        }
        assert {image.rsplit(":", 1)[1] for image in part.images.values()} == {f"v{part.version}"}
        assert part.chart is not None
        assert part.version in part.chart.file
        assert part.chart.oci.startswith("oci://")


@pytest.mark.req("I13")
def test_a_mirror_keeps_the_upstream_registry_in_the_path() -> None:
    assert mirrored("quay.io/a/b:1", "harbor.test/m") == "harbor.test/m/quay.io/a/b:1"
    assert mirrored("quay.io/a/b:1", "") == "quay.io/a/b:1"


@pytest.mark.req("I1")
def test_the_levels_that_were_decided() -> None:
    parts = load_catalog().parts
    levels = {
        f"{key}/{name}": entry.psa for key, part in parts.items() for name, entry in part.namespaces.items()
    }
    assert {name for name, level in levels.items() if level == "privileged"} == {
        "fake-gpu/gpu-operator",
        "gpu-operator-26.7/gpu-operator",
        "gpu-fractioning/gpu-fractioning",
        "control-plane/runai-backend",
        "runai-cluster/runai",
        "runai-cluster/runai-reservation",
    }
    assert levels["prometheus/monitoring"] == levels["prometheus-operator/monitoring"] == "restricted"
    assert levels["kai-scheduler-0.18/kai-scheduler"] == "restricted"


@pytest.mark.req("V12")
def test_what_the_vendor_states_is_about_something_that_is_there() -> None:
    catalog = load_catalog()
    facts = {"kubernetes", "gpu-mode", "platform"}
    assert set(catalog.support) <= facts | {part.name for part in catalog.parts.values()}
    data: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    data["support"] = {"kubernetes": {"source": "nobody", "mark": "U"}}
    with pytest.raises(ValidationError, match="one of min, max, oneOf is needed"):
        Catalog.model_validate(data)


@pytest.mark.req("I12")
def test_what_never_ran_locally_says_how_it_is_known() -> None:
    """The local stack proves its own parts; of every other one the reader must see who says so."""
    ran = {*parts(settings(LOCAL), load_catalog()).values(), "knative-serving-1.20"}
    known = load_catalog().parts
    silent = {
        key for key in set(known) - ran if set(known[key].evidence) != {"chart", "values", "images", "psa"}
    }
    assert silent == set()


def test_a_floor_is_of_a_part_that_exists() -> None:
    with pytest.raises(ValidationError, match="fake-gpu needs nobody"):
        Catalog.model_validate(broken({"needs": {"nobody": "1"}}))


@pytest.mark.parametrize(
    ("chart", "message"),
    [
        ({"oci": "oci://r/x"}, "address and the published version"),
        ({"published": "1"}, "address and the published version"),
        ({"repository": "https://r", "published": "1"}, "repository and name"),
        ({"oci": "oci://r/x", "repository": "https://r", "name": "x", "published": "1"}, "two addresses"),
    ],
)
def test_a_chart_has_one_whole_address(chart: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Catalog.model_validate(broken({"chart": {"file": "x.tgz", **chart}}))


@pytest.mark.req("I12", "I13")
@pytest.mark.parametrize(
    ("key", "name", "image"),
    [
        # The kustomization of v1.9.4, not that of an earlier patch.
        ("training-operator", "operator", "ghcr.io/kubeflow/training-v1/training-operator:v1-93c5489"),
        # The path of the project's push workflow; its tags have a v.
        ("gpu-fractioning", "operator", "ghcr.io/kai-scheduler/gpu-fractioning/operator:v0.1.7"),
        ("gpu-fractioning", "fractiond", "ghcr.io/kai-scheduler/gpu-fractioning/fractiond:v0.1.7"),
        ("gpu-fractioning", "metricsd", "ghcr.io/kai-scheduler/gpu-fractioning/metricsd:v0.1.7"),
        ("gpu-fractioning", "mpsd", "ghcr.io/kai-scheduler/gpu-fractioning/mpsd:v0.1.7"),
    ],
)
def test_an_image_is_the_one_that_the_release_names(key: str, name: str, image: str) -> None:
    assert load_catalog().parts[key].images[name] == image


@pytest.mark.req("I12", "I13")
@pytest.mark.parametrize(
    ("key", "address", "published"),
    [
        ("knative-operator", ("https://knative.github.io/operator", "knative-operator"), "v1.21.4"),
        ("gpu-fractioning", ("oci://ghcr.io/kai-scheduler/gpu-fractioning", ""), "v0.1.7"),
    ],
)
def test_a_chart_is_taken_from_where_its_project_publishes_it(
    key: str, address: tuple[str, str], published: str
) -> None:
    chart = load_catalog().parts[key].chart
    assert chart is not None
    assert (chart.oci or chart.repository, chart.name) == address
    assert chart.published == published
