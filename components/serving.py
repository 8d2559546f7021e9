"""What the stack says about inference, ingress and workspaces, and about what tests deploy on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from components.catalog import Catalog, mirrored
from components.config.model import Settings

if TYPE_CHECKING:
    from components.platform import Platform

SERVING_NAMESPACE = "knative-serving"
INFERENCE_SECRET = "runai-cluster-inference-tls-secret"  # noqa: S105 (a name, not a secret)
WORKSPACES_SECRET = "runai-cluster-domain-star-tls-secret"  # noqa: S105 (a name, not a secret)


def serving_outputs(platform: Platform) -> dict[str, pulumi.Input[object]]:
    """`inference`, `ingress`, `workspaces` and `tls`: always present, with empty texts when off."""
    settings = platform.settings
    served = settings.ingress.enabled
    return {
        "inference": _inference(settings),
        "ingress": _ingress(settings, platform),
        "workspaces": {
            "enabled": served,
            "domain": settings.workspaces_domain() if served else "",
            "tlsSecret": WORKSPACES_SECRET if served else "",
        },
        "tls": {"ca": platform.ca},
    }


def _inference(settings: Settings) -> dict[str, Any]:
    on = settings.knative.enabled
    return {
        "enabled": on,
        "domain": settings.inference_domain() if on else "",
        "namespace": SERVING_NAMESPACE if on else "",
        "version": settings.knative.version if on else "",
        "scaleToZero": on and settings.knative.scale_to_zero,
    }


def _ingress(settings: Settings, platform: Platform) -> dict[str, Any]:
    ingress = settings.ingress
    namespace, service = platform.ingress_service
    return {
        "enabled": ingress.enabled,
        "source": ingress.source if ingress.enabled else "",
        "className": ingress.class_name if ingress.enabled else "",
        "namespace": namespace,
        "service": service,
        "httpsPort": ingress.https_port if ingress.enabled else 0,
    }


def workload_images(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """Images of test workloads: the stack's, else the catalog's below the mirror, else empty."""
    given = settings.images.model_dump(exclude={"source"})
    default = {name: mirrored(image, settings.registry.prefix) for name, image in catalog.images.items()}
    return {name: image or default.get(name, "") for name, image in given.items()}


def bounds(settings: Settings) -> dict[str, Any]:
    """What the tests may take and what they deploy, in the stack file's own words."""
    return settings.validation.model_dump(by_alias=True)
