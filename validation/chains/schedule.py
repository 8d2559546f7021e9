"""Which tests run alone, and which in chains beside each other on nodes that are kept apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from validation import declared, names, scope
from validation.chains.claims import CPU, GPU, Claim, claim
from validation.expect.nodes import Bed, GpuNode
from validation.settings import StackOutputs

# Owner of the pool that is made for chain gpu, and its name; cleaned up as a test's things are.
OWNER = "chains"
POOL = f"{names.WORKLOAD_PREFIX}{OWNER}"


class ConflictError(ValueError):
    """Tests that touch were put beside each other."""


@dataclass(frozen=True)
class Schedule:
    """First the tests that run alone, then the chains; `why` there are none, "" when there are.

    `nodes` go into a pool of chain gpu's own for that time; `most` are the GPUs that each chain may hold, 0 =
    no bound. Raises ConflictError when chains would touch.
    """

    alone: tuple[str, ...]
    chains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: tuple[str, ...] = ()
    most: Mapping[str, int] = field(default_factory=dict)
    pool: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        for one, other in combinations(self.chains.values(), 2):
            for a, b in ((a, b) for a in one for b in other):
                if self.claim(a).touches(self.claim(b)):
                    raise ConflictError(f"{a} and {b} cannot run beside each other")

    @property
    def beside(self) -> tuple[str, ...]:
        """Tests of all chains."""
        return tuple(test for tests in self.chains.values() for test in tests)

    def claim(self, test: str) -> Claim:
        """What a test claims here."""
        return claim(declared.tests()[test], self.pool, POOL)

    def chain_of(self, test: str) -> str:
        """Chain in which a test runs, "" when alone."""
        return next((name for name, tests in self.chains.items() if test in tests), "")


def plan(outputs: StackOutputs, bed: Bed, tests: Sequence[str]) -> Schedule:
    """Lend as many idle nodes to chain gpu as its tests can use, if one stays for chain cpu."""
    known = declared.tests()
    of_cpu = tuple(t for t in tests if known[t].chain == CPU)
    of_gpu = [t for t in tests if known[t].chain == GPU]
    held = max(1, outputs.validation.inference.minReplicas)

    def alone(why: str) -> Schedule:
        return Schedule(tuple(tests), pool=outputs.validation.nodePool, why=why)

    if outputs.driver != "kai":
        return alone(f"driver {outputs.driver} has node pools of its own, which the suite does not make")
    if not of_cpu or not of_gpu:
        return alone("the tests of this run are of one chain")
    lent = lendable(bed, held, max(known[t].nodes for t in of_gpu))
    if not lent:
        return alone(
            "chains need a GPU node that nobody uses, beside another one with "
            f"{held} free GPU{'s' if held > 1 else ''}; found {bed.tell()}"
        )
    most = {GPU: 0, CPU: 0}
    if bound := outputs.validation.maxGpus:
        most = {GPU: bound - held, CPU: held}
        if most[GPU] < 1:
            return alone(f"chains need more than validation.maxGpus = {bound}")
    bounded = bounds(outputs, GPU, most[GPU])
    own = part(lent, most[GPU])
    beside = tuple(t for t in of_gpu if known[t].nodes <= len(lent) and not scope.obstacle(t, bounded, own))
    if not beside:
        return alone(f"no test of chain gpu can be shown on {', '.join(node.name for node in lent)} alone")
    return Schedule(
        alone=tuple(t for t in tests if t not in of_cpu and t not in beside),
        chains={GPU: beside, CPU: of_cpu},
        nodes=tuple(node.name for node in lent),
        most=most,
        pool=outputs.validation.nodePool,
    )


def lendable(bed: Bed, held: int, most: int) -> list[GpuNode]:
    """Idle nodes, the smallest first, `most` at most; one node with `held` GPUs free is kept back."""
    keepers = [node for node in bed.nodes if node.free >= held]
    if not keepers:
        return []
    # Rather a node that others use, too: it cannot be lent anyhow.
    kept = min(keepers, key=lambda node: (not node.shared, node.free, node.name))
    idle = [n for n in bed.nodes if n != kept and not n.shared and n.free == n.gpus]
    return sorted(idle, key=lambda node: (node.free, node.name))[:most]


def part(nodes: Sequence[GpuNode], bound: int) -> Bed:
    """The bed that these nodes make; bound 0 = none."""
    free = sum(node.free for node in nodes)
    budget = min(free, bound) if bound else free
    return Bed(tuple(nodes), budget, scarce=budget == free)


def bounds(outputs: StackOutputs, chain: str, most: int) -> StackOutputs:
    """The outputs as a chain sees them: its nodes, and the GPUs that it may hold (0 = no bound)."""
    change = {"maxGpus": most, **({"nodePool": POOL} if chain == GPU else {})}
    return outputs.model_copy(update={"validation": outputs.validation.model_copy(update=change)})
