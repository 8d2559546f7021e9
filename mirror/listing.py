"""Every image and chart of a stack: from its rendered objects, the catalog, and the images of its tests."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from components.addons.gpu_values import driver_image
from components.addons.inputs import AddonInputs
from components.catalog import Catalog, Chart, mirrored
from components.config.full_rules import unlicensed
from components.config.model import Settings
from components.profiles import parts
from components.serving import workload_images
from policy.objects import images
from policy.render import RenderError, sources

_PULL_SECONDS = 300.0


@dataclass(frozen=True, order=True)
class Item:
    """One thing to copy. `reference` is upstream's: an image with tag or digest, or a chart's address.

    `version` is a chart's; `why` says who named it: a rendered object, the catalog, or a test.
    """

    kind: str
    reference: str
    version: str
    why: str


def listing(settings: Settings, catalog: Catalog, charts: Path, helm: Path, fetch: bool) -> list[Item]:
    """The stack's list in order. Charts that are not in `charts` are fetched there first, if allowed.

    Raises RenderError when a chart cannot be rendered: a list that misses its images would be no list.
    """
    chosen = parts(settings, catalog)
    found = [*_charts(chosen, catalog), *_catalog(chosen, settings, catalog), *_tests(settings, catalog)]
    if fetch:
        for problem in unlicensed(settings) if settings.profile == "full" else ():
            raise RenderError(str(problem))
        for chart in missing(chosen, catalog, charts):
            pull(chart, charts, helm)
    found += _rendered(settings, catalog, charts, helm)
    return unique(found)


def unique(items: Iterable[Item]) -> list[Item]:
    """One item for each reference: the first one's reason stays."""
    first: dict[tuple[str, str, str], Item] = {}
    for item in items:
        first.setdefault((item.kind, item.reference, item.version), item)
    return sorted(first.values())


def missing(chosen: dict[str, str], catalog: Catalog, charts: Path) -> list[Chart]:
    """Published charts of the stack without a file in the directory."""
    wanted = [catalog.parts[key].chart for key in chosen.values()]
    return [c for c in wanted if c is not None and c.published and not (charts / c.file).is_file()]


def pull(chart: Chart, folder: Path, helm: Path) -> None:
    """Fetch a chart from where it is published, under the catalog's file name. Raises RenderError."""
    folder.mkdir(parents=True, exist_ok=True)
    where = [chart.oci] if chart.oci else [chart.name, "--repo", chart.repository]
    work = folder / ".pull"
    work.mkdir(exist_ok=True)
    command = [str(helm), "pull", *where, "--version", chart.published, "--destination", str(work)]
    try:
        problem = _problem(command)
        archives = list(work.glob("*.tgz"))
        if problem or len(archives) != 1:
            raise RenderError(
                f"{chart.path()} {chart.published}: {problem or 'no archive'}; expected a chart; "
                f"check the network and the registry's login, or put {chart.file} into {folder}"
            )
        archives[0].rename(folder / chart.file)
    finally:
        # A half archive of this time would be a second one the next time.
        shutil.rmtree(work)


def _problem(command: list[str]) -> str:
    """What went wrong with a command, empty when nothing did."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PULL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {_PULL_SECONDS:g} s"
    return (done.stderr.strip() or f"status {done.returncode}") if done.returncode else ""


def _charts(chosen: dict[str, str], catalog: Catalog) -> Iterator[Item]:
    for role, key in chosen.items():
        chart = catalog.parts[key].chart
        if chart is not None and chart.published:
            yield Item("chart", chart.path(), chart.published, f"catalog: {role}")


def _catalog(chosen: dict[str, str], settings: Settings, catalog: Catalog) -> Iterator[Item]:
    """Images of the parts, and of those that come inside them; what custom resources name is among them."""
    keys, seen = list(chosen.values()), set[str]()
    while keys:
        key = keys.pop(0)
        if key in seen:
            continue
        seen.add(key)
        part = catalog.parts[key]
        keys += part.requires
        for name, image in part.images.items():
            if part.name != "gpu-operator" or name not in {"driver", "vgpu-driver"}:
                yield Item("image", image, "", f"catalog: {key}")
    if "gpuOperator" in chosen and settings.gpu_operator.driver.source == "operator":
        inputs = AddonInputs(settings, catalog, chosen["gpuOperator"])
        yield Item(
            "image", upstream(driver_image(inputs), settings.registry.prefix), "", "setting: gpuOperator"
        )


def _tests(settings: Settings, catalog: Catalog) -> Iterator[Item]:
    for name, image in workload_images(settings, catalog).items():
        if image:
            yield Item("image", upstream(image, settings.registry.prefix), "", f"test: {name}")


def _rendered(settings: Settings, catalog: Catalog, charts: Path, helm: Path) -> Iterator[Item]:
    named = {mirrored(image, settings.registry.prefix) for image in _drivers(settings, catalog)}
    for source in sources(settings, catalog, charts, helm):
        for obj in source.objects:
            for image in images(obj):
                if image not in named:
                    reference = upstream(image, settings.registry.prefix)
                    yield Item("image", reference, "", f"rendered: {source.name}")


def _drivers(settings: Settings, catalog: Catalog) -> set[str]:
    """The driver without its nodes' system, as the operator's object names it: nothing pulls that tag."""
    chosen = parts(settings, catalog)
    if "gpuOperator" not in chosen:
        return set()
    image = driver_image(AddonInputs(settings, catalog, chosen["gpuOperator"]))
    system = f"-{settings.gpu_operator.driver.os}"
    return {upstream(image, settings.registry.prefix).removesuffix(system)}


def upstream(reference: str, mirror: str) -> str:
    """The reference without the mirror in front of it."""
    return reference.removeprefix(f"{mirror}/") if mirror else reference
