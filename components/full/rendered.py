"""Values of the full profile's charts without an engine: for rules on objects and the mirror list."""

from __future__ import annotations

from components import ngc
from components.catalog import Catalog
from components.config.model import Settings
from components.full import secrets, values

# A cluster gets its own when it is registered.
_UID = "00000000-0000-0000-0000-000000000000"


def chart_values(role: str, settings: Settings, catalog: Catalog, pull_secret: str) -> values.Values:
    """Values for `controlPlane` or `clusterAgents`; in place of secrets stands a text that says so."""
    ca = "a CA" if settings.control_plane_ca_file() else ""
    about = around(settings, catalog, ca, pull_secret, lambda _: "a secret")
    if role == "controlPlane":
        domain = settings.control_plane_domain()
        return values.control_plane(settings.control_plane, domain, secrets.CONTROL_PLANE_TLS, about)
    url, domain = f"https://{settings.control_plane_domain()}", f"https://{settings.cluster_domain()}"
    return values.cluster(settings.cluster_agents, url, _UID, domain, secrets.CLUSTER_TLS, about)


def around(
    settings: Settings, catalog: Catalog, ca: str, pull_secret: str, hide: values.Hide
) -> values.Around:
    """The surroundings that a stack's settings describe; `ca` is the CA's PEM text."""
    mirror = settings.registry.prefix
    part = catalog.parts["prometheus" if settings.monitoring.source == "bundle" else "kube-prometheus-stack"]
    return values.Around(
        settings.ngc,
        settings.control_plane.ingress_class or settings.ingress.class_name,
        ca,
        ngc.images(settings.ngc, mirror),
        pull_secret,
        hide,
        part.image("prometheus", mirror) if mirror else "",
    )
