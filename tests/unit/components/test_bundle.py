"""Taking the Prometheus Operator's bundle apart."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from components.prometheus.bundle import BundleError, crd_chart, read
from tests.stack import write_bundle


def test_crds_are_kept_as_text_and_objects_are_parsed(tmp_path: Path) -> None:
    bundle = read(write_bundle(tmp_path))
    assert bundle.objects.keys() == {
        "ClusterRoleBinding",
        "ClusterRole",
        "Deployment",
        "ServiceAccount",
        "Service",
    }
    for name, text in bundle.crds.items():
        assert yaml.safe_load(text)["metadata"]["name"] == name


def test_the_crd_chart_is_written_once(tmp_path: Path) -> None:
    path = write_bundle(tmp_path)
    chart = crd_chart(read(path), path.parent, "0.85.0")
    crd = chart / "crds" / "prometheuses.monitoring.coreos.com.yaml"
    os.utime(crd, (1, 1))
    crd_chart(read(path), path.parent, "0.85.0")
    assert crd.stat().st_mtime == 1
    assert yaml.safe_load((chart / "Chart.yaml").read_text())["version"] == "0.85.0"
    crd.write_text("something else")
    crd_chart(read(path), path.parent, "0.85.0")
    assert yaml.safe_load(crd.read_text())["kind"] == "CustomResourceDefinition"
    assert not list(chart.rglob(".*"))


@pytest.mark.parametrize(
    "text", ["", "kind: Deployment\n", "---\nkind: CustomResourceDefinition\nmetadata:\n  name: a.b\n"]
)
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "bundle.yaml").write_text(text)
    with pytest.raises(BundleError, match="expected an operator's bundle"):
        read(tmp_path / "bundle.yaml")
