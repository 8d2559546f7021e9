"""Values of the full profile's charts without an engine: for rules on objects and the mirror list."""

from __future__ import annotations

from components.full import secrets, values
from components.settings import Settings

# A cluster gets its own when it is registered.
_UID = "00000000-0000-0000-0000-000000000000"


def chart_values(role: str, settings: Settings, pull_secret: str) -> values.Values:
    """Values for `controlPlane` or `clusterAgents`; secrets are there as plain texts, to be thrown away."""
    about = around(settings, "a CA" if settings.control_plane_ca_file() else "", pull_secret, str)
    if role == "controlPlane":
        domain = settings.control_plane_domain()
        return values.control_plane(settings.control_plane, domain, secrets.CONTROL_PLANE_TLS, about)
    url, domain = f"https://{settings.control_plane_domain()}", f"https://{settings.cluster_domain()}"
    return values.cluster(settings.cluster_agents, url, _UID, domain, secrets.CLUSTER_TLS, about)


def around(settings: Settings, ca: str, pull_secret: str, hide: values.Hide) -> values.Around:
    """The surroundings that a stack's settings describe; `ca` is the CA's PEM text."""
    ingress = settings.control_plane.ingress_class or settings.ingress.class_name
    return values.Around(settings.ngc, ingress, ca, settings.registry.prefix, pull_secret, hide)
