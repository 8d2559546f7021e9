"""What the stack makes of add-ons that are published as manifests, and the values of the others' charts."""

from __future__ import annotations

from pathlib import Path

from components.addons.inputs import AddonInputs
from components.addons.kubeflow import manifests
from components.addons.values import chart_values
from components.catalog import Catalog
from components.config.model import Settings
from policy.pod_security import Object

MANIFESTS = frozenset({"trainingOperator", "mpiOperator"})


def addon_values(role: str, key: str, settings: Settings, catalog: Catalog, pull: str) -> Object:
    """Values of an add-on's chart. Raises KeyError for a role that is no add-on's."""
    return chart_values(role, AddonInputs(settings, catalog, key, pull))


def manifest_objects(key: str, settings: Settings, catalog: Catalog, charts: Path, pull: str) -> list[Object]:
    """The objects as the component makes them. Raises OSError or ManifestError."""
    found = manifests(AddonInputs(settings, catalog, key, pull), charts)
    return [*found.crds, *found.ground, *found.deployments, *found.last]
