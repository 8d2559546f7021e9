"""V9 topology: gangs that must, or would rather, stay in one rack; racks are labels that the test sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.nodes import Bed, GpuNode, used
from validation.expect.over_quota import ImpossibleError

QUEUE = "kit-topology"
TOPOLOGY = "runai-kit-topology"
BLOCK = "runai-kit-topology-block"
RACKS = ("runai-kit-topology-rack-1", "runai-kit-topology-rack-2")


@dataclass(frozen=True)
class Rack:
    """A rack of one node: what a filler takes and what it leaves free (GPUs)."""

    node: str
    hostname: str
    rack: str
    filler: int
    leaves: int


@dataclass(frozen=True)
class Plan:
    """Gangs of one-GPU pods: `fits` go into one rack only, `tooMany` only into the whole block.

    `late`: there is one GPU node only. Then the rack label is put on it late, and until then no rack exists.
    """

    racks: list[Rack]
    fits: int
    tooMany: int  # noqa: N815  (a key that the role reads)
    late: bool


def plan(bed: Bed) -> Plan:
    """Rack 1 keeps one GPU free, rack 2 two: packing alone would begin in rack 1 and split the gang.

    Raises ImpossibleError below three free GPUs on two nodes, or two on one.
    """
    pairs = [pair for pair in bed.pairs() if pair[1].free >= 2]
    if pairs:
        low, high = min(pairs, key=lambda pair: (used(pair), pair[0].free + pair[1].free, pair[0].name))
        return Plan([_rack(low, 0, 1), _rack(high, 1, 2)], fits=2, tooMany=3, late=False)
    roomy = [node for node in bed.singles() if node.free >= 2]
    if roomy:
        node = min(reversed(roomy), key=lambda node: node.shared)
        return Plan([_rack(node, 0, node.free)], fits=2, tooMany=2, late=True)
    raise ImpossibleError(
        f"topology needs two nodes with one and two free GPUs, or one with two; found {bed.tell()}; free GPUs"
    )


def _rack(node: GpuNode, number: int, leaves: int) -> Rack:
    return Rack(node.name, node.hostname, RACKS[number], node.free - leaves, leaves)


def expected(made: Plan) -> dict[str, Any]:
    """Expectations by check id."""
    able = [rack.rack for rack in made.racks if rack.leaves >= made.fits]
    preferred: dict[str, Any] = {"together": {"running": made.fits, "racks": able}}
    if not made.late:
        all_racks = sorted(rack.rack for rack in made.racks)
        preferred["beyondOneRack"] = {"running": made.tooMany, "racks": all_racks}
    return {
        "topology.impossible": {
            "pods": made.tooMany,
            "phases": ["Pending"],
            "everScheduled": [],
            "freeInBlock": {"atLeast": made.tooMany},
            "message": {"matches": rf"topology {TOPOLOGY}, requirement \S+ couldn't be satisfied"},
        },
        "topology.required": {"running": made.fits, "racks": able},
        "topology.preferred": preferred,
        "topology.foreign": {"evicted": []},
    }
