"""The cluster's name servers, for the words of a probe that could not resolve a name."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.cluster import Cluster
from validation.observe import pods

Json = dict[str, Any]
# CoreDNS and kube-dns are found by this label in all distributions (and by kubeadm's own manifests).
SELECTOR = "k8s-app=kube-dns"


def servers(cluster: Cluster, phase: str) -> list[str]:
    """Name services with their ready endpoints, for a probe that ended in `phase`; none after a success."""
    if phase == "Succeeded":
        return []
    services = cluster.items(names.SERVICES, labelSelector=SELECTOR)
    if not services:
        return [f"no Service carries {SELECTOR}"]
    return [f"Service {pods.name(s)} has {_ready(cluster, s)} ready endpoints" for s in services]


def _ready(cluster: Cluster, service: Json) -> int:
    meta = service["metadata"]
    slices = cluster.items(
        names.in_namespace(names.ENDPOINT_SLICES, meta["namespace"]),
        labelSelector=f"kubernetes.io/service-name={meta['name']}",
    )
    ends = [end for piece in slices for end in piece.get("endpoints") or []]
    return sum(1 for end in ends if (end.get("conditions") or {}).get("ready") is not False)
