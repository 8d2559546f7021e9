"""Files that a chart directory must hold for what the settings ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.catalog import Catalog
from components.config.addon_parts import part_name, wanted
from components.config.errors import Problem

if TYPE_CHECKING:
    from components.settings import Settings


def missing_charts(settings: Settings, catalog: Catalog, root: Path) -> Iterator[Problem]:
    """One problem per missing file, and one for a bundle without a directory to find it in."""
    yield from _mirror(settings)
    yield from _manifests(settings, catalog, root)
    if settings.charts.source != "directory":
        if settings.monitoring.enabled and settings.monitoring.source == "bundle":
            yield Problem(
                "monitoring.source",
                '"bundle"',
                f'"chart" while charts.source is "{settings.charts.source}"',
                "the bundle is a file: use a chart directory or kube-prometheus-stack",
            )
        if settings.knative.enabled and settings.knative.source == "bundle":
            yield Problem(
                "knative.source",
                '"bundle"',
                f'"operator" while charts.source is "{settings.charts.source}"',
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


def _mirror(settings: Settings) -> Iterator[Problem]:
    charts = settings.charts
    if bool(charts.prefix) != (charts.source == "mirror"):
        yield Problem(
            "charts.prefix",
            f'"{charts.prefix}"' if charts.prefix else "nothing",
            f'{"nothing" if charts.prefix else "a registry"} while charts.source is "{charts.source}"',
            "charts.prefix is where charts.source mirror finds them: set both or neither",
        )


def _manifests(settings: Settings, catalog: Catalog, root: Path) -> Iterator[Problem]:
    """What is published as manifests and not as a chart is a file whatever charts.source says."""
    for role, version in wanted(settings).items():
        part = catalog.parts.get(catalog.generations(part_name(role)).get(version, ""))
        if part is None or part.chart is None or part.chart.published:
            continue
        file = Path(settings.charts.directory) / part.chart.file
        if settings.charts.source != "directory" and not (root / file).is_file():
            origin = part.evidence["chart"].source if "chart" in part.evidence else "the release's page"
            yield Problem(
                f"{role}.enabled", "true", f"the release's manifests as {file}", f"put them there: {origin}"
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
    keys += [
        catalog.generations(part_name(role)).get(version, "") for role, version in wanted(settings).items()
    ]
    charts = [catalog.parts[key].chart for key in keys if key in catalog.parts]
    return [chart.file for chart in charts if chart is not None]
