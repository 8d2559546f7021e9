"""Helm itself on the chart doubles: it renders what the kit sets and refuses everything else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from policy.render import RenderError, template
from tests.contract.doubles import HELM, helm, pack
from tests.contract.test_chart_values import CHARTS, key_of, values_of
from tests.stack import CATALOG


@pytest.mark.req("I4", "I5", "I6", "I12")
@pytest.mark.parametrize("chart", CHARTS)
def test_helm_itself_renders_the_double_and_refuses_the_rest(chart: str, tmp_path: Path) -> None:
    part = CATALOG.parts[key_of(chart)]
    assert part.chart is not None
    archive = pack(chart, part.chart.published, tmp_path)
    objects = template(HELM, part, archive, values_of(chart))
    assert any(obj["kind"] == "Deployment" for obj in objects)
    images = [line for line in yaml.safe_dump(objects).split() if "/" in line and ":" in line]
    assert any(image.startswith("harbor.example.test/m/") for image in images)
    with pytest.raises(RenderError, match="values don't meet the specifications"):
        template(HELM, part, archive, {"noSuchValue": 1})


def test_a_double_without_values_installs_nothing(tmp_path: Path) -> None:
    archive = pack("lws", "0.9.0", tmp_path)
    with pytest.raises(subprocess.CalledProcessError) as caught:
        helm("template", "x", str(archive))
    assert "missing propert" in caught.value.stderr
