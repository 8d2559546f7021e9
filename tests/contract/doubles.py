"""Chart doubles: the vendors' names and values, schemas that refuse any other, and pods that do nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from components.catalog import Catalog, Chart

CHARTS = Path(__file__).with_name("charts")
HELM = Path(__file__).parents[2] / "build" / "bin" / "helm"
# Operators that are published as manifests, in shapes of their releases: below tests/fixtures.
MANIFESTS = ("training-operator-1.9.4.yaml", "mpi-operator-0.8.0.yaml")
_SHARED = "definitions.yaml"
_HELPERS = "double.tpl"


def names() -> list[str]:
    """All doubles, by their charts' names."""
    return sorted(path.parent.name for path in CHARTS.glob("*/values.schema.yaml"))


def schema(name: str) -> dict[str, Any]:
    """A double's schema with the shared definitions, as Helm reads it."""
    found = _yaml(CHARTS / name / "values.schema.yaml")
    own = found.pop("definitions", {})
    kai = _yaml(CHARTS / "kai-scheduler" / "values.schema.yaml")
    return {**found, "definitions": {**_yaml(CHARTS / _SHARED), "kaiScheduler": kai, **own}}


def pack(name: str, version: str, folder: Path) -> Path:
    """The double as a chart archive of that version below `folder`.

    Its own values are none but what the kit reads of them: whatever else the real chart would default to, the
    kit has to say or to leave alone.
    Raises subprocess.CalledProcessError with Helm's words.
    """
    work = folder / "work" / name
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(CHARTS / name, work, ignore=shutil.ignore_patterns("*.schema.yaml"))
    head = {"apiVersion": "v2", "name": name, "version": version, "description": "A double; it does nothing."}
    (work / "Chart.yaml").write_text(yaml.safe_dump(head), encoding="utf-8")
    (work / "values.schema.json").write_text(json.dumps(schema(name)), encoding="utf-8")
    shutil.copyfile(CHARTS / _HELPERS, work / "templates" / "_double.tpl")
    helm("package", str(work), "--destination", str(folder))
    return folder / f"{name}-{version}.tgz"


def chart_name(chart: Chart) -> str:
    """The name in an address: the last part of `oci`, or the repository's `name`."""
    return chart.name or chart.oci.rpartition("/")[2]


def pack_all(catalog: Catalog, folder: Path) -> dict[str, Path]:
    """Every published chart of the catalog that has a double, by catalog key, in its published version."""
    known = set(names())
    packed: dict[str, Path] = {}
    for key, part in catalog.parts.items():
        chart = part.chart
        if chart is not None and chart.published and chart_name(chart) in known:
            packed[key] = pack(chart_name(chart), chart.published, folder)
    return packed


def helm(*words: str, values: dict[str, Any] | None = None) -> str:
    """Helm's standard output. Raises subprocess.CalledProcessError; its `stderr` says why."""
    done = subprocess.run(
        [str(HELM), *words],
        input=json.dumps(values) if values is not None else None,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def _yaml(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data
