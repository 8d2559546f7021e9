"""What a destroyed installation may have left, seen from outside of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Event

from tests.acceptance.conftest import Json, Kubectl
from validation.cluster import Cluster, ClusterError
from validation.settings import StackOutputs


def cluster_of(outputs: StackOutputs) -> Cluster:
    """The cluster of the tests."""
    return Cluster(outputs.kubeconfig, outputs.context)


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
