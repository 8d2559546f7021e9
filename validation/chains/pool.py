"""The pool of chain gpu: nodes that nobody uses, with a KAI scheduler of their own, lent and given back."""

from __future__ import annotations

import time
from collections.abc import Sequence

from validation import cleanup, names
from validation.chains.schedule import OWNER, POOL
from validation.cluster import Cluster, ClusterError
from validation.expect.nodes import bed
from validation.observe import node_pools, nodes
from validation.observe.snapshot import Snapshot
from validation.settings import StackOutputs


def lend(cluster: Cluster, outputs: StackOutputs, lent: Sequence[str]) -> None:
    """Make the pool and wait for its scheduler; ClusterError when it does not come or a node is in use."""
    measured = bed(nodes.facts(Snapshot(cluster, outputs)))
    idle = {node.name for node in measured.nodes if not node.shared and node.free == node.gpus}
    if taken := [name for name in lent if name not in idle]:
        raise ClusterError(f"node {', '.join(taken)} is in use by others now, or gone")
    cluster.create(
        names.SHARDS,
        {
            "apiVersion": "kai.scheduler/v1",
            "kind": "SchedulingShard",
            "metadata": {
                "name": POOL,
                "labels": {
                    names.MANAGED_BY_LABEL: names.MANAGED_BY,
                    names.PART_OF_LABEL: names.PART_OF,
                    names.TEST_LABEL: OWNER,
                },
            },
            "spec": {"partitionLabelValue": POOL, "placementStrategy": outputs.placement.model_dump()},
        },
    )
    before = outputs.validation.nodePool or None
    change = {
        "labels": {outputs.nodePoolLabelKey: POOL},
        "annotations": {names.POOL_BEFORE_ANNOTATION: before},
    }
    for name in lent:
        cluster.patch(f"{names.NODES}/{name}", {"metadata": change})
    _wait(cluster, outputs, lent)


def _wait(cluster: Cluster, outputs: StackOutputs, lent: Sequence[str]) -> None:
    deadline = time.monotonic() + outputs.validation.timeoutSeconds
    while True:
        seen = node_pools.scheduler(Snapshot(cluster, outputs), POOL)
        if seen["ready"] == 1 and seen["nodes"] == sorted(lent):
            return
        if time.monotonic() > deadline:
            raise ClusterError(f"the scheduler {seen['deployment']} of pool {POOL} is not ready")
        time.sleep(1)


def give_back(cluster: Cluster, outputs: StackOutputs) -> list[str]:
    """Take the pool apart; what is left of it."""
    return cleanup.remove(cluster, outputs.reservationNamespace, OWNER)[1]
