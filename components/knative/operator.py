"""The Knative Operator: its chart's values, and the KnativeServing that it makes true."""

from __future__ import annotations

from typing import Any

from components.catalog import Part, mirrored
from components.knative.config import config
from components.knative.inputs import KnativeInputs, repository

READY = "condition=Ready"

# What the operator calls the containers whose image it is told.
_CONTAINERS = {
    "activator": "activator",
    "autoscaler": "autoscaler",
    "controller/controller": "controller",
    "webhook": "webhook",
    "queue-proxy": "queue",
}


def values(operator: Part, mirror: str) -> dict[str, Any]:
    """Helm values; the chart gives its pods no seccomp profile, which `restricted` asks for."""
    return {
        "knative_operator": {
            "knative_operator": _program(operator, "operator", mirror),
            "operator_webhook": _program(operator, "webhook", mirror),
        }
    }


def _program(operator: Part, name: str, mirror: str) -> dict[str, Any]:
    image = operator.image(name, mirror)
    return {
        "image": repository(image),
        "tag": image.rpartition(":")[2],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
    }


def knative_serving(knative: KnativeInputs, operator: Part, mirror: str) -> dict[str, Any]:
    """Spec of the KnativeServing: version, settings, Kourier without a load balancer of its own."""
    pull = {"imagePullSecrets": [{"name": knative.pull_secret}]} if knative.pull_secret else {}
    return {
        "version": knative.serving.version,
        "high-availability": {"replicas": knative.replicas},
        "ingress": {"kourier": {"enabled": True, "service-type": "ClusterIP"}},
        "config": config(knative),
        "registry": {"override": _images(knative, operator, mirror), **pull},
    }


def _images(knative: KnativeInputs, operator: Part, mirror: str) -> dict[str, str]:
    """By container, or by workload and container where two containers share a name."""
    serving = knative.serving.images
    return {
        **{container: knative.image(serving[name]) for container, name in _CONTAINERS.items()},
        "net-kourier-controller/controller": knative.image(knative.kourier.images["kourier"]),
        "kourier-gateway": knative.image(knative.envoy.images["envoy"]),
        **{
            name: mirrored(operator.images[name], mirror) for name in ("autoscaler-hpa", "cleanup", "migrate")
        },
    }
