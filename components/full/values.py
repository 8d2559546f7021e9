"""Values of the two charts. Sources: facts on chart values, read in full for 2.25 (D), assumed to hold for
3.0.

The product's repository could not be read: what of this 3.0 renamed would be found by its own installation
only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pulumi

from components.config.full import ClusterAgents, ControlPlane, Ngc, Postgresql
from components.full.placement import placement
from components.merging import merged
from components.ngc import PULL_SECRET

Values = dict[str, Any]
Hide = Callable[[str], Any]
# Own Secret with what the agents log in with; the chart is told name and key.
CLIENT_SECRET = "runai-kit-client"  # noqa: S105 (a name, not a secret)
CLIENT_KEY = "clientSecret"


@dataclass(frozen=True)
class Around:
    """What both charts are told about their surroundings; `registry` empty is the vendor's own.

    `hide` makes a secret of the engine of a text; `prometheus` is the image of the agents' Prometheus, which
    does not follow `registry`.
    """

    ngc: Ngc
    ingress_class: str
    ca: str
    registry: str
    pull_secret: str
    hide: Hide
    prometheus: str = ""


def control_plane(settings: ControlPlane, domain: str, tls: str, around: Around) -> Values:
    """Values of chart `control-plane`; passwords are secrets of the engine."""
    values: Values = {
        "global": _global(around)
        | {"domain": domain, "ingress": {"ingressClass": around.ingress_class, "tlsSecretName": tls}}
        | placement(settings.nodes),
        "tenantsManager": {
            "config": {
                "adminUsername": settings.admin.username,
                "adminPassword": around.hide(settings.admin.password.get_secret_value()),
            }
        },
    }
    if around.ngc.support_entitled:
        values["supportEntitled"] = True
    if settings.postgresql is not None:
        values = merged(values, _database(settings.postgresql, around.hide))
    if settings.storage_class:
        values = merged(values, _storage(settings.storage_class, settings.postgresql is None))
    return merged(values, settings.values)


def cluster(
    settings: ClusterAgents,
    url: pulumi.Input[str],
    uid: pulumi.Input[str],
    domain: pulumi.Input[str],
    tls: str,
    around: Around,
) -> Values:
    """Values of chart `runai-cluster`; `domain` is the cluster's address with its scheme."""
    values: Values = {
        "controlPlane": {
            "url": url,
            "existingSecret": CLIENT_SECRET,
            "secretKeys": {"clientSecret": CLIENT_KEY},
        },
        "cluster": {"uid": uid, "url": domain},
        "global": _global(around) | placement(settings.nodes),
        "researcherService": {"ingress": {"tlsSecret": tls}},
        "clusterConfig": {
            "global": {
                "ingress": {"ingressClass": around.ingress_class},
                "subdomainSupport": settings.host_based_routing,
            },
            "project-controller": {"createNamespaces": settings.create_namespaces},
        },
    }
    if around.registry and around.prometheus:
        values["clusterConfig"]["prometheus"] = {"spec": {"image": around.prometheus}}
    if around.ngc.support_entitled:
        values["supportEntitled"] = True
    return merged(values, settings.values)


def _global(around: Around) -> Values:
    values: Values = {"customCA": {"enabled": bool(around.ca)}}
    if around.registry:
        values["image"] = {"registry": around.registry}
    names = [PULL_SECRET] if around.ngc.support_entitled else []
    names += [around.pull_secret] if around.pull_secret else []
    values["additionalImagePullSecrets"] = names
    return values


def _database(database: Postgresql, hide: Hide) -> Values:
    auth = {
        "host": database.host,
        "port": database.port,
        "username": database.username,
        "password": hide(database.password.get_secret_value()),
        "dbSslMode": database.ssl_mode,
    }
    return {"postgresql": {"enabled": False}, "global": {"postgresql": {"auth": auth}}}


def _storage(name: str, own_database: bool) -> Values:
    values: Values = {
        "global": {"storageClass": name},
        "thanos": {"receive": {"persistence": {"storageClass": name}}},
    }
    if own_database:
        values["postgresql"] = {"primary": {"persistence": {"storageClass": name}}}
    return values
