"""The stack's cluster, or one sentence within seconds: nothing here waits for a cluster that is not there."""

from __future__ import annotations

from day2.state import Stack
from validation.cluster import Cluster, ClusterError

# Seconds for the first answer.
_REACH = 5.0


def reach(stack: Stack) -> Cluster:
    """The cluster, after it has answered once. Raises ClusterError within seconds."""
    return answering(
        stack.kubeconfig,
        stack.context,
        f"If it is gone for good, `pulumi stack rm --force {stack.name}` forgets it",
    )


def answering(kubeconfig: str, context: str, more: str = "") -> Cluster:
    """The cluster of a context, after it has answered once; `more` ends the advice. Raises ClusterError."""
    try:
        Cluster(kubeconfig, context, timeout=_REACH).get("/version")
    except ClusterError as error:
        if error.status:
            raise
        raise ClusterError(
            f"{error}; expected an API server that answers within {_REACH:g} s; check that the cluster runs "
            f"and that the network lets you through. {more}".rstrip(". ")
        ) from None
    return Cluster(kubeconfig, context)
