"""V9 node pools: a second SchedulingShard with a node of its own; work lands in its pool or nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.nodes import Bed, GpuNode
from validation.expect.over_quota import ImpossibleError

POOL = "runai-kit-node-pools"
QUEUES = ("kit-node-pools-in", "kit-node-pools-out")


@dataclass(frozen=True)
class Plan:
    """`node` becomes the pool; `fill` GPUs of it are taken by one pod and one GPU more is asked for.

    `elsewhere`: hostname of another GPU node with a free GPU, "" when there is none.
    """

    node: str
    hostname: str
    fill: int
    elsewhere: str


def choose(bed: Bed, least: int, spare: int, what: str) -> GpuNode:
    """A node that only the suite uses, with `least` GPUs free and `spare` more in the budget.

    Raises ImpossibleError when every GPU node is in use by others, or too small.
    """
    fitting = [
        n for n in bed.nodes if not n.shared and n.free == n.gpus and least <= n.free <= bed.budget - spare
    ]
    if not fitting:
        raise ImpossibleError(
            f"{what} takes a whole GPU node out of the default pool for a while: it needs one that nobody "
            f"else uses, with at least {least} GPUs; found {bed.tell()}, in use by others: "
            f"{', '.join(n.name for n in bed.nodes if n.shared) or 'none'}"
        )
    return min(fitting, key=lambda n: (n.free, n.name))


def plan(bed: Bed) -> Plan:
    """The smallest node that only the suite uses. See choose()."""
    others = sum(1 for node in bed.nodes if node.free)
    node = choose(bed, 1, 1 if others > 1 and bed.budget > 1 else 0, "node_pools")
    free_elsewhere = [n for n in bed.nodes if n.name != node.name and n.free and bed.budget > node.free]
    return Plan(node.name, node.hostname, node.free, free_elsewhere[0].hostname if free_elsewhere else "")


def expected(made: Plan) -> dict[str, Any]:
    """Expectations by check id."""
    return {
        "node_pools.scheduler": {"pool": POOL, "nodes": [made.node], "ready": 1},
        # While the pool is idle: a pod of the default pool that names the pool's node waits all the same.
        "node_pools.outside": {
            "freeInPool": made.fill,
            "strayEverScheduled": [],
            "strayPhase": ["Pending"],
            "otherRunning": 1 if made.elsewhere else 0,
            "otherInPool": 0,
        },
        # Now the pool is full, and one GPU more is not taken elsewhere.
        "node_pools.inside": {
            "running": 1,
            "nodes": [made.node],
            "gpus": made.fill,
            "excessPhase": ["Pending"],
            "excessEverScheduled": [],
            "freeElsewhere": {"atLeast": 1 if made.elsewhere else 0},
        },
        "node_pools.foreign": {"evicted": []},
    }
