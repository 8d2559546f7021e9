"""What a destroyed installation may have left, seen from outside of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Event

from day2.inventory import Item, inventory
from day2.kinds import Kind
from tests.acceptance.conftest import Json, Kubectl
from validation.cluster import Cluster, ClusterError
from validation.settings import StackOutputs

# Objects that come and go with time, whatever is installed; each with what makes it.
CHURN = {
    "Event": "what happened",
    "Lease": "who leads, and that nodes are alive",
    "CertificateSigningRequest": "nodes renew their certificates",
    "ComponentStatus": "a view that is made when it is asked for",
    "Pod": "pods of controllers have names by chance",
    "ReplicaSet": "one per revision of a Deployment, the old ones are dropped",
    "ControllerRevision": "one per revision of a DaemonSet or StatefulSet",
    "Endpoints": "follow Services",
    "EndpointSlice": "follow Services, with names by chance",
    "IPAddress": "follow Services",
    "Job": "jobs of hooks go after a while",
}


def cluster_of(outputs: StackOutputs) -> Cluster:
    """The cluster of the tests."""
    return Cluster(outputs.kubeconfig, outputs.context)


def snapshot(cluster: Cluster) -> dict[str, Item]:
    """Every object of every kind, without churn; by what it is called."""
    found = inventory(cluster, _lasting)
    return {f"{item.group}/{item}": item for item in found}


def _lasting(kind: Kind) -> bool:
    return kind.name not in CHURN


def changes(before: dict[str, Item], after: dict[str, Item], kit: Iterable[str]) -> list[str]:
    """Objects that came or went; of the kit's own namespaces also other generations and labels."""
    homes = set(kit)
    texts = [f"came: {name}" for name in sorted(after.keys() - before.keys())]
    texts += [f"went: {name}" for name in sorted(before.keys() - after.keys())]
    for name in sorted(before.keys() & after.keys()):
        one, other = before[name], after[name]
        if one.labels != other.labels:
            texts.append(f"labels of {name}: {dict(one.labels)} became {dict(other.labels)}")
        if other.namespace in homes and one.generation != other.generation:
            texts.append(f"generation of {name}: {one.generation} became {other.generation}")
    return texts


@dataclass
class Disappearance:
    """Seconds at which each thing was first seen gone, while somebody destroys; -1 for still there."""

    cluster: Cluster
    paths: dict[str, str]
    gone: dict[str, float] = field(default_factory=dict)

    def watch(self, stop: Event) -> None:
        """Look until told to stop."""
        while not stop.wait(0.1):
            for name, path in self.paths.items():
                if name not in self.gone and not self._there(path):
                    self.gone[name] = time.monotonic()

    def _there(self, path: str) -> bool:
        try:
            return self.cluster.find(path) is not None
        except ClusterError:
            return True


def node_labels(kubectl: Kubectl) -> list[str]:
    """Labels that only the pretended GPUs' agent writes."""
    nodes: list[Json] = kubectl("get", "nodes")["items"]
    keys = {key for node in nodes for key in node["metadata"]["labels"]}
    # The one that selects the nodes is the cluster's, not the agent's.
    kept = {"nvidia.com/gpu.deploy.device-plugin"}
    return sorted(key for key in keys - kept if key.startswith(("nvidia.com/", "run.ai/")))
