"""Values of Run:ai's own charts as the components set them, with words in place of what only a run knows."""

from __future__ import annotations

from typing import Any

import pulumi

from components.catalog import Catalog
from components.full import secrets, values
from components.settings import Settings
from policy.pod_security import Object

CHARTS = frozenset({"controlPlane", "clusterAgents"})
# Known from registering the cluster, which rendering does not do.
_UID = "00000000-0000-0000-0000-000000000000"


def full_values(role: str, settings: Settings, catalog: Catalog, pull: str) -> Object:
    """Helm values; passwords are left out of what is rendered here: they are secrets of the engine."""
    plane = settings.control_plane
    ca = "a certificate" if settings.control_plane_ca_file() else ""
    around = values.around(settings, catalog, ca, pull)
    if role == "controlPlane":
        found = values.control_plane(
            plane, settings.control_plane_domain(), secrets.CONTROL_PLANE_TLS, around
        )
    else:
        found = values.cluster(
            settings.cluster_agents,
            f"https://{settings.control_plane_domain()}",
            _UID,
            f"https://{settings.cluster_domain()}",
            secrets.CLUSTER_TLS,
            around,
        )
    plain: Object = _plain(found)
    return plain


def _plain(node: Any) -> Any:
    if isinstance(node, pulumi.Output):
        return "a-secret"
    if isinstance(node, dict):
        return {key: _plain(value) for key, value in node.items()}
    return [_plain(item) for item in node] if isinstance(node, list) else node
