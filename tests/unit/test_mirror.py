"""What the list of a closed network may fetch, and programs that find no end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mirror import copy
from mirror import listing as made
from mirror.copy import Copier
from mirror.listing import Item, listing, pull
from policy import render
from policy.render import RenderError, read_stack
from tests.stack import CATALOG

STACK = Path(__file__).parents[2] / "stacks" / "Pulumi.vks-airgap.yaml"


@pytest.mark.req("I13")
def test_without_the_licence_nothing_of_ngc_is_fetched(tmp_path: Path) -> None:
    settings = read_stack(STACK)
    with pytest.raises(RenderError, match=r"runai-kit:ngc\.acceptLicense: found false; expected true"):
        listing(settings, CATALOG, tmp_path / "charts", tmp_path / "no-helm", fetch=True)
    accepted = settings.model_copy(update={"ngc": settings.ngc.model_copy(update={"accept_license": True})})
    with pytest.raises(FileNotFoundError, match="no-helm"):
        listing(accepted, CATALOG, tmp_path / "charts", tmp_path / "no-helm", fetch=True)


def program(folder: Path, name: str, text: str) -> Path:
    """A shell script in a program's place; `exec` leaves nothing behind that would keep its output open."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.req("I13")
def test_a_copy_without_an_end_is_one_failed_line_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skopeo = program(tmp_path, "skopeo", 'case "$*" in *slow*) exec sleep 60;; esac')
    monkeypatch.setattr(copy, "_IMAGE_SECONDS", 0.5)
    said: list[str] = []
    items = [Item("image", f"quay.io/{name}:1", "", "") for name in ("slow", "quick")]
    failures = Copier("harbor.test/m", "", skopeo, tmp_path / "helm").copy(items, said.append)
    assert said == ["failed: image quay.io/slow:1", "copied: image quay.io/quick:1"]
    (line,) = failures
    assert line.startswith("image quay.io/slow:1: found no end of `skopeo copy --quiet")
    assert "after 0.5 s; expected one within that time; check the line to both registries" in line


@pytest.mark.req("I13")
def test_an_image_may_take_hours() -> None:
    assert copy._IMAGE_SECONDS == 6 * 3600


@pytest.mark.req("I13")
def test_a_chart_that_does_not_come_in_time_is_named_and_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chart = next(part.chart for part in CATALOG.parts.values() if part.chart and part.chart.published)
    charts = tmp_path / "charts"
    monkeypatch.setattr(made, "_PULL_SECONDS", 0.5)
    half = f"touch {charts}/.pull/half.tgz; "
    with pytest.raises(
        RenderError, match=r"no end after 0\.5 s; expected a chart; check the network"
    ) as caught:
        pull(chart, charts, program(tmp_path, "slow", half + "exec sleep 60"))
    assert chart.path() in str(caught.value)
    with pytest.raises(RenderError, match="status 3; expected a chart"):
        pull(chart, charts, program(tmp_path, "failing", half + "exit 3"))
    pull(chart, charts, program(tmp_path, "helm", f"echo it > {charts}/.pull/it.tgz"))
    assert [path.name for path in charts.iterdir()] == [chart.file]


@pytest.mark.req("I13")
def test_a_chart_that_is_not_rendered_in_time_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "_SECONDS", 0.5)
    part = next(part for part in CATALOG.parts.values() if part.chart and part.chart.published)
    told = f"{part.name} {part.version}: found no end of `helm template` after 0.5 s; expected the chart's"
    with pytest.raises(RenderError, match=re.escape(told)):
        render.template(program(tmp_path, "helm", "exec sleep 60"), part, tmp_path / "chart.tgz", {})
