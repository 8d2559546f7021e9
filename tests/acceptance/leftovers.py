"""What a destroyed installation may have left, seen from outside of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Event

from tests.acceptance import inventory, peoples
from tests.acceptance.conftest import Json, Kubectl
from validation import names
from validation.cluster import Cluster, ClusterError
from validation.settings import StackOutputs


def cluster_of(outputs: StackOutputs) -> Cluster:
    """The cluster of the tests."""
    return Cluster(outputs.kubeconfig, outputs.context)


GROUPS = ("kai.scheduler", "run.ai", "knative.dev", "monitoring.coreos.com")


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


def nothing_left(outputs: StackOutputs, kubectl: Kubectl, homes: list[str], crds: bool) -> None:
    """No namespace, webhook, role, finalizer, label of the kit; CRDs only if they were not purged."""
    there = [seen.item for seen in inventory.snapshot(cluster_of(outputs)).values()]
    assert [str(item) for item in there if item.namespace in homes or item.name in homes] == []
    ours = [item for item in there if item.labels.get(names.MANAGED_BY_LABEL) == names.MANAGED_BY]
    assert [str(item) for item in ours if item.kind != "CustomResourceDefinition"] == []
    brought = [
        item.name for item in there if item.kind == "CustomResourceDefinition" and item.name.endswith(GROUPS)
    ]
    assert bool(brought) is crds, brought
    for kind in ("clusterroles", "clusterrolebindings", "priorityclasses"):
        made = kubectl("get", kind, "-l", "app.kubernetes.io/managed-by=Helm")["items"]
        assert [item["metadata"]["name"] for item in made] == []
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        assert kubectl("get", kind)["items"] == []
    assert [str(item) for item in there if item.deleting] == []
    assert node_labels(kubectl) == []
    peoples.plain_pod(outputs, kubectl, "default")
