"""Each stack file of the project, rendered: the rules hold, and the mirror list misses nothing.

Charts that cannot be built from packages are doubles here: what is judged are this kit's values in them.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from components.addons.manifests import ManifestError, read
from mirror.__main__ import main as mirror
from policy.__main__ import main as policy
from policy.objects import images
from policy.render import read_stack, sources
from tests.acceptance.conftest import ROOT
from tests.contract.doubles import HELM, MANIFESTS, pack_all
from tests.stack import CATALOG

STACKS = ("local", "kind", "vks-modular", "vks-full", "vks-airgap")
PREFIX = "harbor.example.com/mirror"


def file(name: str) -> Path:
    return ROOT / "stacks" / f"Pulumi.{name}.yaml"


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The charts of `make demo`, doubles of all others, and the manifests of Kubeflow's operators."""
    folder = tmp_path_factory.mktemp("stacks")
    charts = folder / "charts"
    shutil.copytree(ROOT / "build" / "charts", charts)
    for key, archive in pack_all(CATALOG, folder / "packed").items():
        chart = CATALOG.parts[key].chart
        if chart is not None and not (charts / chart.file).exists():
            shutil.copyfile(archive, charts / chart.file)
    for name in MANIFESTS:
        shutil.copyfile(ROOT / "tests" / "fixtures" / name, charts / name)
    return charts


@pytest.mark.req("I1", "I13")
@pytest.mark.parametrize("name", STACKS)
def test_no_rule_on_rendered_objects_is_broken(
    name: str, charts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = policy([str(charts), "--stack", str(file(name)), "--helm", str(HELM)])
    assert code == 0, capsys.readouterr()


@pytest.mark.req("I13")
def test_with_a_prefix_no_object_names_another_registry(charts: Path) -> None:
    settings = read_stack(file("vks-airgap"))
    assert settings.registry.prefix == PREFIX
    named = {
        image
        for source in sources(settings, CATALOG, charts, HELM)
        for obj in source.objects
        for image in images(obj)
    }
    assert len(named) > 40
    assert {image for image in named if not image.startswith(f"{PREFIX}/")} == set()


@pytest.mark.req("I13")
def test_the_list_has_what_only_custom_resources_name(
    charts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["list", "--stack", str(file("vks-airgap")), "--charts", str(charts), "--helm", str(HELM)]
    assert mirror([*arguments, "--json"]) == 0
    listed: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    references = {item["reference"] for item in listed if item["kind"] == "image"}
    for image in (
        # ClusterPolicy; the driver's tag with the nodes' system, which only the operator writes.
        "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.1-4.8.4-distroless",
        "nvcr.io/nvidia/driver:615.10-ubuntu24.04",
        # KnativeServing, and the sidecar that Serving adds to pods.
        "gcr.io/knative-releases/knative.dev/serving/cmd/queue:v1.21.1",
        "gcr.io/knative-releases/knative.dev/serving/cmd/autoscaler-hpa:v1.21.1",
        # A test's workload.
        "nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04",
    ):
        assert image in references
    assert not {name for name in references if name.startswith(PREFIX)}
    assert "nvcr.io/nvidia/driver:615.10" not in references
    assert {item["reference"] for item in listed if item["kind"] == "chart"} >= {
        "helm.ngc.nvidia.com/nvidia/gpu-operator",
        "helm.ngc.nvidia.com/nvidia/runai-oss/control-plane",
        "helm.ngc.nvidia.com/nvidia/runai-oss/runai-cluster",
    }


@pytest.mark.req("I13")
def test_a_chart_that_is_not_there_makes_no_list(
    charts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["list", "--stack", str(file("vks-airgap")), "--charts", str(tmp_path), "--helm", str(HELM)]
    assert mirror(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "no such file" in told.err
    assert "nothing was listed" in told.err


@pytest.mark.req("I12")
def test_a_file_that_is_no_operators_manifests_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("kind: ConfigMap\n")
    with pytest.raises(ManifestError, match="found ConfigMap; expected an operator's CRDs and Deployment"):
        read(path)
