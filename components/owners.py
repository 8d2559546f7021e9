"""One scheduler of this kind per cluster: KAI alone, inside KRM, or inside Run:ai, never two of them."""

from __future__ import annotations

from components.cluster import Cluster
from components.config.model import Settings
from components.connect import ClusterError

# Namespace → who runs there; each brings a KAI Scheduler with its webhooks and cluster-wide objects.
_OWNERS = {
    "kai-scheduler": "KAI Scheduler by its own chart",
    "kai-resource-management": "KAI Resource Management",
    "runai": "Run:ai's cluster agents",
}


def refuse_second_scheduler(cluster: Cluster, settings: Settings) -> None:
    """Looks for Deployments of the other owners. Raises ClusterError."""
    ours = _ours(settings)
    for namespace, owner in _OWNERS.items() if ours else ():
        if namespace != ours and cluster.deployments(namespace):
            raise ClusterError(
                "context",
                f"{owner} in namespace {namespace}",
                f"none beside {_OWNERS[ours]}, which this stack installs",
                "choose the cluster or the profile that belongs to it, or remove the other one first",
            )


def _ours(settings: Settings) -> str:
    """The namespace of this stack's scheduler; empty for a control plane alone."""
    if settings.profile == "full":
        return "runai" if settings.cluster_agents.enabled else ""
    return "kai-resource-management" if settings.resource_management.enabled else "kai-scheduler"
