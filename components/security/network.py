"""NetworkPolicies: everything is closed, then what each namespace's pods are asked and ask is opened.

A policy sees a pod's own port, after any Service's translation. Traffic of a pod's own node (the kubelet's
probes) is let through by network plugins. The API server and the kubelets are no pods: only ports, and with
`apiServers` also addresses, tell who they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from components.config.security import Security
from components.security.governed import Governed

Json = dict[str, Any]
NAME = "runai-kit"
DENY = "runai-kit-default-deny"
API_PORTS = (443, 6443)
DNS = [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]
# The metadata services of clouds hand out credentials of the node.
_LINK_LOCAL = "169.254.0.0/16"


@dataclass(frozen=True)
class Neighbours:
    """Namespaces that others are reached from; "" for what the stack does not have."""

    monitoring: str = ""
    prometheus_port: int = 0
    knative: str = ""
    ingress: str = ""


def policies(item: Governed, near: Neighbours, security: Security) -> dict[str, Json]:
    """Specs by name for one namespace."""
    rules = _project(near, security) if item.project else _part(item, near, security)
    types = ["Ingress", "Egress"]
    return {
        DENY: {"podSelector": {}, "policyTypes": types},
        NAME: {"podSelector": {}, "policyTypes": types, **rules},
    }


def _part(item: Governed, near: Neighbours, security: Security) -> Json:
    """A controller: webhooks and metrics in; name server, API server and Prometheus out."""
    servers = [_range(cidr) for cidr in security.api_servers]
    ingress = []
    if item.webhooks:
        ingress.append(_allow("from", servers, _tcp(item.webhooks)))
    # The suite reads metrics by the API server, too.
    readers = [*_namespaces(near.monitoring), *servers]
    if item.metrics and readers:
        ingress.append(_allow("from", readers, _tcp(item.metrics)))
    egress = [_allow("to", [], DNS), _allow("to", servers, _tcp(API_PORTS))]
    if near.monitoring:
        egress.append(_allow("to", _namespaces(near.monitoring), _tcp([near.prometheus_port])))
    return {"ingress": ingress, "egress": egress}


def _project(near: Neighbours, security: Security) -> Json:
    """A team's workloads: among themselves, from what serves and measures them, out to what is allowed."""
    own: list[Json] = [{"podSelector": {}}]
    front = _namespaces(near.knative, near.ingress)
    outside = [_range("0.0.0.0/0", _LINK_LOCAL), _range("::/0")]
    egress = [_allow("to", [], DNS), _allow("to", [*own, *front], [])]
    if security.egress_ports:
        egress.append(_allow("to", outside, _tcp(security.egress_ports)))
    return {"ingress": [_allow("from", [*own, *front, *_namespaces(near.monitoring)], [])], "egress": egress}


def _allow(direction: str, peers: list[Json], ports: list[Json]) -> Json:
    """No peers are all peers, no ports all ports: then the field has to be left out."""
    return ({direction: peers} if peers else {}) | ({"ports": ports} if ports else {})


def _namespaces(*names: str) -> list[Json]:
    return [
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}
        for name in names
        if name
    ]


def _range(cidr: str, *excepted: str) -> Json:
    return {"ipBlock": {"cidr": cidr} | ({"except": list(excepted)} if excepted else {})}


def _tcp(ports: Sequence[int]) -> list[Json]:
    return [{"protocol": "TCP", "port": port} for port in ports]
