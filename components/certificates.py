"""The wildcard certificates as Secrets, where what ends TLS looks for them."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import pulumi
from pulumi_kubernetes.core.v1 import Secret

from components.labels import metadata
from components.tls.material import Certificates, Pair


class CertificateSecrets(pulumi.ComponentResource):
    """One Secret per certificate and namespace; `places` is use → (name, namespaces)."""

    def __init__(
        self,
        name: str,
        certificates: Certificates,
        places: Mapping[str, tuple[str, tuple[str, ...]]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("runai-kit:components:CertificateSecrets", name, None, opts)
        for use, pair in certificates.pairs.items():
            secret, namespaces = places[use]
            for namespace in namespaces:
                Secret(
                    f"{namespace}-{secret}",
                    metadata=metadata(secret, namespace),
                    type="kubernetes.io/tls",
                    data=pulumi.Output.secret(_data(pair, certificates)),
                    opts=pulumi.ResourceOptions(parent=self),
                )
        self.register_outputs({})


def _data(pair: Pair, certificates: Certificates) -> dict[str, str]:
    texts = {"tls.crt": pair.chain, "tls.key": pair.key}
    if certificates.ca:
        texts |= {"ca.crt": certificates.ca, "rotation": certificates.rotation}
    return {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
