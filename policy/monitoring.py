"""What the stack makes of monitoring without a chart."""

from __future__ import annotations

from components.catalog import Catalog
from components.config.model import Settings
from components.kai.inputs import QUEUE_LABEL
from components.prometheus.state_metrics import NAME, pod
from policy.pod_security import Object


def state_metrics_objects(settings: Settings, catalog: Catalog, pull: str) -> list[Object]:
    """kube-state-metrics' Deployment beside the operator's bundle."""
    part = catalog.parts["kube-state-metrics"]
    image = part.image("kube-state-metrics", settings.registry.prefix)
    spec = {"template": pod(image, QUEUE_LABEL, "", pull)}
    metadata = {"name": NAME, "namespace": part.namespace()}
    return [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}]
