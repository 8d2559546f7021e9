"""Where the installation answers from outside: address and port of the ingress, and the CA to trust."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import Any

from validation import names
from validation.cluster import Cluster
from validation.settings import StackOutputs

Json = dict[str, Any]


class IngressError(ValueError):
    """The ingress has no address that can be reached from outside; the text names the Service."""


@dataclass(frozen=True)
class Ingress:
    """Address (IP or name), port and PEM text of the CA; "" is the CAs that this machine trusts."""

    address: str
    port: int
    ca: str = ""

    def context(self) -> ssl.SSLContext:
        """TLS settings for any client: chain and name are verified, against the CA and no other."""
        try:
            return ssl.create_default_context(cadata=self.ca or None)
        except ssl.SSLError as error:
            raise IngressError(f"stack output tls.ca is no PEM certificate: {error}") from None


def find(cluster: Cluster, outputs: StackOutputs) -> Ingress:
    """The ingress of the stack: its load balancer, else a ready node's address with the node port.

    IngressError names what is missing and what to do.
    """
    wanted = outputs.ingress
    if not wanted.enabled:
        raise IngressError("stack output ingress.enabled is false: set runai-kit:ingress.enabled and run up")
    title = f"Service {wanted.namespace}/{wanted.service}"
    service = cluster.find(f"{names.in_namespace(names.SERVICES, wanted.namespace)}/{wanted.service}")
    if service is None:
        raise IngressError(f"{title} of the ingress does not exist; run `pulumi up`")
    balanced = service.get("status", {}).get("loadBalancer", {}).get("ingress") or []
    for entry in balanced:
        if address := entry.get("ip") or entry.get("hostname"):
            return Ingress(str(address), wanted.httpsPort, outputs.tls.ca)
    port = _node_port(service, wanted.httpsPort)
    if port is None:
        raise IngressError(
            f"{title}: found neither a load balancer's address nor a node port for port {wanted.httpsPort}, "
            "expected one of them; give the Service an address"
        )
    return Ingress(_node_address(cluster.items(names.NODES)), port, outputs.tls.ca)


def _node_port(service: Json, https_port: int) -> int | None:
    for port in service["spec"].get("ports") or []:
        if port["port"] == https_port and port.get("nodePort"):
            return int(port["nodePort"])
    return None


def _node_address(nodes: list[Json]) -> str:
    for node in nodes:
        state = {c["type"]: c["status"] for c in node["status"].get("conditions") or []}
        inside = [a["address"] for a in node["status"].get("addresses") or [] if a["type"] == "InternalIP"]
        if state.get("Ready") == "True" and inside:
            return str(inside[0])
    raise IngressError("no ready node has an InternalIP, so that the ingress's node port cannot be reached")
