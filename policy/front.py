"""What the stack makes of Knative and the ingress without a chart, and the values of their charts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.catalog import Catalog
from components.config.model import Settings
from components.haproxy import controller
from components.haproxy.inputs import NAMESPACE, SERVICE, routes
from components.haproxy.objects import deployment_spec
from components.knative import bundle, operator
from components.knative.inputs import NAMESPACE as SERVING
from components.knative.inputs import knative_inputs
from policy.pod_security import Object


def knative_objects(settings: Settings, catalog: Catalog, charts: Path, pull: str) -> list[Object]:
    """Serving's and Kourier's objects as the component makes them, or the KnativeServing for the operator.

    Raises OSError for a file that is not there, BundleError for one that is something else.
    """
    knative = knative_inputs(settings, catalog, pull)
    if settings.knative.source == "operator":
        part = catalog.parts["knative-operator"]
        spec = operator.knative_serving(knative, part, settings.registry.prefix)
        metadata = {"name": SERVING, "namespace": SERVING}
        version = "operator.knative.dev/v1beta1"
        return [{"apiVersion": version, "kind": "KnativeServing", "metadata": metadata, "spec": spec}]
    files = [charts / part.chart.file for part in (knative.serving, knative.kourier) if part.chart]
    fitted = bundle.fit(bundle.read(files[0]), bundle.read(files[1]), knative)
    return [*fitted.crds, *fitted.ground, *fitted.deployments, *fitted.last]


def haproxy_objects(settings: Settings, catalog: Catalog, pull: str) -> list[Object]:
    """HAProxy's Deployment with the rendered configuration."""
    image = catalog.parts["haproxy"].image("haproxy", settings.registry.prefix)
    wait = routes(settings, catalog).wait_seconds
    spec = deployment_spec(image, settings.ingress.replicas, wait, {}, "", pull)
    metadata = {"name": SERVICE, "namespace": NAMESPACE}
    return [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}]


def chart_values(role: str, settings: Settings, catalog: Catalog, pull: str) -> dict[str, Any]:
    """Values of the charts: the Knative Operator's and the ingress controller's."""
    prefix = settings.registry.prefix
    if role == "knativeOperator":
        return operator.values(catalog.parts["knative-operator"], prefix)
    part = catalog.parts["haproxy-ingress"]
    return controller.values(settings.ingress, part, settings.registry, routes(settings, catalog), pull)
