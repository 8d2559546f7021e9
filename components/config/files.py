"""Files that a chart directory must hold for what the settings ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.catalog import Catalog
from components.config.errors import Problem

if TYPE_CHECKING:
    from components.settings import Settings


def missing_charts(settings: Settings, catalog: Catalog, root: Path) -> Iterator[Problem]:
    """One problem per missing file, and one for a bundle without a directory to find it in."""
    if settings.charts.source == "registry":
        if settings.monitoring.enabled and settings.monitoring.source == "bundle":
            yield Problem(
                "monitoring.source",
                '"bundle"',
                '"chart" while charts.source is "registry"',
                "the bundle is a file: use a chart directory or kube-prometheus-stack",
            )
        if settings.knative.enabled and settings.knative.source == "bundle":
            yield Problem(
                "knative.source",
                '"bundle"',
                '"operator" while charts.source is "registry"',
                "the bundle is made of files: use a chart directory or the Knative Operator",
            )
        return
    directory = root / settings.charts.directory
    if not directory.is_dir():
        yield Problem(
            "charts.directory",
            f'"{settings.charts.directory}"',
            "a directory with the charts",
            "create it and put the charts in, or set charts.source to registry",
        )
        return
    for name in _needed(settings, catalog):
        if not (directory / name).is_file():
            yield Problem(
                "charts.directory",
                f'"{settings.charts.directory}" without {name}',
                "that file in it",
                "put the file there, or set charts.source to registry",
            )


def _needed(settings: Settings, catalog: Catalog) -> list[str]:
    keys = []
    if settings.given_scheduler is not None:
        keys.append(catalog.generations("kai-scheduler").get(settings.scheduler.version, ""))
    if settings.profile == "full":
        if settings.control_plane.source == "install":
            keys.append(catalog.generations("control-plane").get(settings.control_plane.version, ""))
        if settings.cluster_agents.enabled:
            keys.append(catalog.generations("runai-cluster").get(settings.control_plane.version, ""))
    if settings.monitoring.enabled:
        bundle = settings.monitoring.source == "bundle"
        keys.append("prometheus-operator" if bundle else "kube-prometheus-stack")
    if settings.knative.enabled and settings.knative.source == "operator":
        keys.append("knative-operator")
    elif settings.knative.enabled:
        keys += [catalog.generations("knative-serving").get(settings.knative.version, ""), "net-kourier"]
    if settings.ingress.enabled and settings.ingress.source == "controller":
        keys.append("haproxy-ingress")
    charts = [catalog.parts[key].chart for key in keys if key in catalog.parts]
    return [chart.file for chart in charts if chart is not None]
