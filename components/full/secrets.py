"""Secrets under the names that the product looks for."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import pulumi
from pulumi_kubernetes.core.v1 import Secret

from components.labels import metadata
from components.tls.material import Pair

CONTROL_PLANE_TLS = "runai-backend-tls"
CLUSTER_TLS = "runai-cluster-domain-tls-secret"
CA = "runai-ca-cert"
_CA_KEY = "runai-ca.pem"
# Marks the CA for being copied into every project's namespace.
_CLUSTER_WIDE = {"run.ai/cluster-wide": "true", "run.ai/name": CA}


def tls_secret(name: str, namespace: str, pair: Pair, opts: pulumi.ResourceOptions) -> Secret:
    """A certificate with its key."""
    texts = {"tls.crt": pair.chain, "tls.key": pair.key}
    data = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    return Secret(
        f"{namespace}-{name}",
        metadata=metadata(name, namespace),
        type="kubernetes.io/tls",
        data=pulumi.Output.secret(data),
        opts=opts,
    )


def ca_secret(namespace: str, ca: str, opts: pulumi.ResourceOptions, everywhere: bool = False) -> Secret:
    """The private CA, as both charts want it where `global.customCA.enabled` is true."""
    labels: Mapping[str, str] = _CLUSTER_WIDE if everywhere else {}
    return Secret(
        f"{namespace}-{CA}",
        metadata=metadata(CA, namespace, labels=labels),
        string_data={_CA_KEY: ca},
        opts=opts,
    )
