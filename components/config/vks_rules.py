"""Rules on the VKS packages and on VCF Operations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.catalog import Catalog
from components.config.errors import Problem
from components.config.versions import unlisted
from components.tls import given
from components.tls.material import load
from components.vks.values import DCGM_FIELDS

if TYPE_CHECKING:
    from components.config.model import Settings

# Setting → the part's name in the catalog.
_VERSIONS = {"prometheusVersion": "vks-prometheus", "telegrafVersion": "vks-telegraf"}


def vks_problems(settings: Settings, catalog: Catalog, root: Path) -> Iterator[Problem]:
    """Every broken rule."""
    if settings.vks_monitoring.packages != "off":
        yield from _packages(settings, catalog)
        yield from _dcgm(settings, root)
    yield from _operations(settings, root)


def _packages(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    chosen = settings.vks_monitoring
    if settings.cluster.kind != "vks":
        yield Problem(
            "vksMonitoring.packages",
            f'"{chosen.packages}"',
            f'"off" on a cluster of kind "{settings.cluster.kind}"',
            "leave the section out: these packages are for VKS",
        )
    if chosen.packages == "existing":
        return
    versions = {
        "prometheusVersion": chosen.prometheus_version,
        "telegrafVersion": chosen.telegraf_version,
    }
    for key, version in versions.items():
        more = "; values of others were not looked at"
        yield from unlisted(catalog, _VERSIONS[key], f"vksMonitoring.{key}", version, more)


def _dcgm(settings: Settings, root: Path) -> Iterator[Problem]:
    """The input passes only fields that the exporter counts; one that it does not is missing silently."""
    if not settings.vks_monitoring.dcgm:
        return
    if not settings.monitoring.dcgm_namespace:
        yield Problem(
            "monitoring.dcgmNamespace",
            "nothing",
            "a namespace while vksMonitoring.dcgm is true",
            "name the one where the DCGM exporter runs, or set vksMonitoring.dcgm: false",
        )
    gpus = settings.gpu_operator
    file = root / gpus.counters
    if gpus.source != "install" or not gpus.counters or not file.is_file():
        return
    counted = {line.split(",")[0].strip() for line in file.read_text(encoding="utf-8").splitlines()}
    if missing := [field for field in DCGM_FIELDS if field not in counted]:
        yield Problem(
            "gpuOperator.counters",
            f'"{gpus.counters}" without {", ".join(missing)}',
            f"a line each for {', '.join(DCGM_FIELDS)} while vksMonitoring.dcgm is true",
            "add them: Telegraf passes these on to VCF Operations",
        )


def _operations(settings: Settings, root: Path) -> Iterator[Problem]:
    asked = settings.vcf_operations
    needed = {"username": asked.username, "clusterName": asked.cluster_name}
    for key, value in needed.items():
        if bool(value) != bool(asked.url):
            yield Problem(
                f"vcfOperations.{key}",
                f'"{value}"' if value else "nothing",
                "a text exactly where vcfOperations.url is set",
                "set vcfOperations.url, or remove it" if value else "set it",
            )
    try:
        load(given.text(asked.ca, root)) if asked.ca else None
    except (OSError, ValueError):
        yield Problem(
            "vcfOperations.ca",
            f'"{asked.ca}"',
            "a PEM file with the CA's certificate",
            "correct the path or the file",
        )
