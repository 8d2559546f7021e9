"""Renders what a stack would install: charts by `helm template`, the operator's bundle by our own code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from components.addons.gpu_values import driver_image
from components.addons.inputs import AddonInputs
from components.addons.manifests import ManifestError
from components.catalog import Catalog, Part, Psa
from components.cluster import ClusterFacts
from components.config import secrets
from components.config.addon_parts import ROLES as ADDONS
from components.config.errors import NAMESPACE, from_validation
from components.config.model import Settings
from components.full import rendered as full
from components.kai.settings import kai_inputs
from components.knative.bundle import BundleError
from components.namespaces import PULL_SECRET, wanted_namespaces
from components.profiles import parts
from components.prometheus import bundle, stack
from components.scheduler import generation
from components.settings import field_names
from policy.addons import MANIFESTS, addon_values, manifest_objects
from policy.front import chart_values, haproxy_objects, knative_objects
from policy.monitoring import state_metrics_objects
from policy.pod_security import Object

# Charts ask for the cluster's version; without one Helm answers with that of its own making.
_KUBERNETES = "1.34.0"
# What rendering one chart may take.
_SECONDS = 120.0


class RenderError(RuntimeError):
    """A chart that cannot be rendered: a rule that could not be checked is not a rule kept."""


@dataclass(frozen=True)
class Source:
    """Objects of one part, what each of its namespaces enforces, and the stack's own spec of KAI's Config."""

    name: str
    objects: list[Object]
    levels: dict[str, Psa]
    config: Object | None = None
    #: Whether the catalog lists the images; where it does not, the chart is the only one that names them.
    listed: bool = True


def read_stack(path: Path) -> Settings:
    """The settings of a stack file, types checked; rules that need files or a cluster are not looked at.

    Raises SettingsError as `pulumi up` would show it.
    """
    config = yaml.safe_load(path.read_text(encoding="utf-8"))["config"]
    prefix = f"{NAMESPACE}:"
    values = {
        key.removeprefix(prefix): _opened(value) for key, value in config.items() if key.startswith(prefix)
    }
    try:
        return Settings.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise from_validation(error, field_names(Settings), frozenset(), secrets.places(Settings)) from None


def _opened(value: Any) -> Any:
    """Encrypted texts as one that says so: what is rendered here is looked at and thrown away."""
    if isinstance(value, dict):
        return "encrypted" if set(value) == {"secure"} else {k: _opened(v) for k, v in value.items()}
    return [_opened(item) for item in value] if isinstance(value, list) else value


def sources(settings: Settings, catalog: Catalog, charts: Path, helm: Path) -> Iterator[Source]:
    """Every part of the stack that comes as a chart, as a bundle, or as our own pods. Raises RenderError."""
    chosen = parts(settings, catalog)
    levels = {item.name: item.psa for item in wanted_namespaces(settings, catalog, list(chosen.values()))}
    pull = PULL_SECRET if settings.registry.username else ""
    for role, key in chosen.items():
        part = catalog.parts[key]
        if role == "ingress" and part.chart is None:
            yield Source(key, haproxy_objects(settings, catalog, pull), levels)
        elif role == "stateMetrics":
            yield Source(key, state_metrics_objects(settings, catalog, pull), levels)
        elif role == "knative":
            if settings.knative.source == "bundle":
                for name in (key, "net-kourier"):
                    _file(catalog.parts[name], charts)
            try:
                yield Source(key, knative_objects(settings, catalog, charts, pull), levels)
            except BundleError as error:
                raise RenderError(str(error)) from None
        elif role in MANIFESTS:
            _file(part, charts)
            try:
                objects = manifest_objects(key, settings, catalog, charts, pull)
            except ManifestError as error:
                raise RenderError(str(error)) from None
            yield Source(key, objects, levels)
        # Kourier comes with Serving.
        elif part.chart is not None and role != "kourier":
            file = _file(part, charts)
            if file.name == "bundle.yaml":
                yield Source(key, bundle_objects(part, file, settings.registry.prefix), levels)
            else:
                values, config = _values(role, key, settings, catalog, pull)
                objects = template(helm, part, file, values)
                yield Source(key, objects, levels, config, listed=bool(part.images))


def named_images(settings: Settings, catalog: Catalog) -> frozenset[str]:
    """Images that the settings name beside the catalog's, below the mirror: the GPU driver's."""
    chosen = parts(settings, catalog)
    if "gpuOperator" not in chosen:
        return frozenset()
    inputs = AddonInputs(settings, catalog, chosen["gpuOperator"])
    image = driver_image(inputs)
    # In the operator's own object the nodes' system is not yet part of the tag.
    return frozenset({image, image.removesuffix(f"-{settings.gpu_operator.driver.os}")})


def _file(part: Part, charts: Path) -> Path:
    file = charts / (part.chart.file if part.chart else "")
    if not file.is_file():
        raise RenderError(f"{file}: no such file; {part.name} {part.version} cannot be checked")
    return file


def _values(
    role: str, key: str, settings: Settings, catalog: Catalog, pull: str
) -> tuple[Object, Object | None]:
    part = catalog.parts[key]
    if role in {"controlPlane", "clusterAgents"}:
        return full.chart_values(role, settings, catalog, pull), None
    if role in ADDONS:
        return addon_values(role, key, settings, catalog, pull), None
    if role in {"knativeOperator", "ingress"}:
        return chart_values(role, settings, catalog, pull), None
    if role == "monitoring":
        return stack.values(settings.monitoring, part, settings.registry.prefix, pull), None
    kai = kai_inputs(settings, catalog, ClusterFacts("", (), {}), key, pull)
    return generation(part).values(kai), generation(part).config(kai)


def chart_values_by_part(settings: Settings, catalog: Catalog) -> dict[str, Object]:
    """Catalog key → Helm values of every part that is a chart."""
    pull = PULL_SECRET if settings.registry.username else ""
    return {
        key: _values(role, key, settings, catalog, pull)[0]
        for role, key in parts(settings, catalog).items()
        if (chart := catalog.parts[key].chart) is not None and chart.file.endswith(".tgz")
    }


def template(helm: Path, part: Part, file: Path, values: dict[str, Any]) -> list[Object]:
    """`helm template` with hooks and CRDs left as the chart has them."""
    command = [str(helm), "template", part.name, str(file), "--namespace", part.namespace(), "--values", "-"]
    command += ["--kube-version", _KUBERNETES]
    try:
        done = subprocess.run(
            command, input=json.dumps(values), capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise RenderError(
            f"{part.name} {part.version}: found no end of `helm template` after {_SECONDS:g} s; "
            f"expected the chart's objects; check {file} and the load of this machine, then run again"
        ) from None
    if done.returncode:
        raise RenderError(f"{part.name} {part.version}: {done.stderr.strip()}")
    return [obj for obj in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if obj]


def bundle_objects(part: Part, file: Path, mirror: str) -> list[Object]:
    """The operator's Deployment as the component makes it."""
    namespace = part.namespace()
    spec = bundle.deployment_spec(
        bundle.read(file), namespace, part.image("operator", mirror), part.image("config-reloader", mirror)
    )
    metadata = {"name": bundle.OPERATOR, "namespace": namespace}
    return [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}]
