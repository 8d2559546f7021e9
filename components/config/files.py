"""Files that a chart directory must hold for what the settings ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.catalog import Catalog, Part
from components.config.addon_parts import part_name, wanted
from components.config.errors import Problem

if TYPE_CHECKING:
    from components.config.model import Settings


def missing_charts(settings: Settings, catalog: Catalog, root: Path) -> Iterator[Problem]:
    """One problem per missing file, and one for a mirror without a name or a name without a mirror.

    What no registry publishes (manifests of a release) is a file wherever charts come from.
    """
    yield from _mirror(settings)
    local = settings.charts.source == "directory"
    directory = root / settings.charts.directory
    if local and not directory.is_dir():
        yield Problem(
            "charts.directory",
            f'"{settings.charts.directory}"',
            "a directory with the charts",
            "create it and put the charts in, or set charts.source to registry",
        )
        return
    for part in _needed(settings, catalog):
        chart = part.chart
        if chart is None or (chart.published and not local) or (directory / chart.file).is_file():
            continue
        origin = f": {part.evidence['chart'].source}" if "chart" in part.evidence else ""
        yield Problem(
            "charts.directory",
            f'"{settings.charts.directory}" without {chart.file}',
            "that file in it",
            "put the file there, or set charts.source to registry"
            if chart.published
            else f"put the release's manifests there{origin}",
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


def _needed(settings: Settings, catalog: Catalog) -> list[Part]:
    keys = []
    if settings.given_scheduler is not None and not settings.resource_management.enabled:
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
    return [catalog.parts[key] for key in keys if key in catalog.parts]
