"""What NetworkPolicies allow, by their API's rules, whatever the network plugin makes of them."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class End:
    """One end of a connection: a pod of a namespace, or an address alone, which belongs to no pod."""

    ip: str
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Net:
    """All policies of a cluster, and the labels of its namespaces by name."""

    policies: list[Json]
    namespaces: dict[str, dict[str, str]]

    def allows(self, source: End, target: End, port: int, protocol: str = "TCP") -> bool:
        """Both ends have to agree: egress of the source, ingress of the target."""
        out = self._side(source, target, "Egress", "egress", "to", port, protocol)
        return out and self._side(target, source, "Ingress", "ingress", "from", port, protocol)

    def _side(
        self, own: End, other: End, kind: str, rules: str, peers: str, port: int, protocol: str
    ) -> bool:
        """An end that no policy of this kind selects is open."""
        mine = [
            policy["spec"]
            for policy in self.policies
            if own.namespace == policy["metadata"]["namespace"]
            and kind in policy["spec"]["policyTypes"]
            and _selects(policy["spec"].get("podSelector") or {}, own.labels)
        ]
        return not mine or any(
            self._peer(rule.get(peers), own, other) and _port(rule.get("ports"), port, protocol)
            for spec in mine
            for rule in spec.get(rules) or []
        )

    def _peer(self, peers: list[Json] | None, own: End, other: End) -> bool:
        return not peers or any(self._is(peer, own, other) for peer in peers)

    def _is(self, peer: Json, own: End, other: End) -> bool:
        if "ipBlock" in peer:
            address = ipaddress.ip_address(other.ip)
            excepted = peer["ipBlock"].get("except") or []
            return address in ipaddress.ip_network(peer["ipBlock"]["cidr"]) and not any(
                address in ipaddress.ip_network(cidr) for cidr in excepted
            )
        if not other.namespace:
            return False
        where = peer.get("namespaceSelector")
        if where is None and other.namespace != own.namespace:
            return False
        if where is not None and not _selects(where, self.namespaces[other.namespace]):
            return False
        return _selects(peer.get("podSelector") or {}, other.labels)


def _port(ports: list[Json] | None, port: int, protocol: str) -> bool:
    return not ports or any(p["port"] == port and p.get("protocol", "TCP") == protocol for p in ports)


def _selects(selector: Json, labels: Mapping[str, str]) -> bool:
    assert not selector.get("matchExpressions"), "the kit's policies select by labels only"
    return (selector.get("matchLabels") or {}).items() <= labels.items()
