"""What the stack says about the VKS packages and VCF Operations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.catalog import Catalog
from components.config.model import Settings
from components.tls import given
from components.vks.owners import Plan, version
from components.vks.values import HOMES, PROMETHEUS, TELEGRAF

ROLES = {PROMETHEUS: ("vksPrometheus", "vks-prometheus"), TELEGRAF: ("vksTelegraf", "vks-telegraf")}


def package_parts(settings: Settings, catalog: Catalog, chosen: Plan) -> dict[str, str]:
    """Role → catalog key of the packages that this stack installs."""
    return {
        role: catalog.generations(name)[version(settings, package)]
        for package, (role, name) in ROLES.items()
        if package in chosen.install
    }


def vks_outputs(settings: Settings, chosen: Plan) -> dict[str, Any]:
    """Which packages there should be, and whose they are."""
    owners = dict.fromkeys(chosen.install, "this stack")
    owners |= {item.package: item.owner for item in chosen.adopted}
    return {
        "packages": [
            {"name": package, "namespace": HOMES[package], "owner": owner}
            for package, owner in owners.items()
        ],
        "metricProxy": settings.vks_monitoring.metric_proxy,
        "dcgm": settings.vks_monitoring.dcgm,
        "dcgmNamespace": settings.monitoring.dcgm_namespace,
    }


def operations_outputs(settings: Settings, root: Path) -> dict[str, Any]:
    """Where VCF Operations answers, and what to look for; no password."""
    asked = settings.vcf_operations
    return {
        "url": asked.url,
        "ca": given.text(asked.ca, root) if asked.ca else "",
        "username": asked.username,
        "authSource": asked.auth_source,
        "clusterName": asked.cluster_name,
        "resourceKind": asked.resource_kind,
        "dataMinutes": asked.data_minutes,
    }
