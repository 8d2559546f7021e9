"""Shares of GPUs that a fair scheduler gives to sibling queues (KAI: quota first, the rest by weight)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

UNLIMITED = -1


@dataclass(frozen=True)
class Claim:
    """One queue: deserved and limit (GPUs, -1 = unlimited), GPUs asked for, weight beyond the quota."""

    name: str
    deserved: float
    limit: float
    requested: int
    weight: float = 1

    @property
    def ceiling(self) -> int:
        """Most whole GPUs the queue can hold."""
        return self.requested if self.limit == UNLIMITED else min(self.requested, int(self.limit))

    @property
    def guaranteed(self) -> int:
        """Whole GPUs it gets before anybody borrows."""
        return self.ceiling if self.deserved == UNLIMITED else min(self.ceiling, int(self.deserved))


def fair_share(capacity: int, claims: Sequence[Claim]) -> dict[str, int]:
    """Whole GPUs per queue: quotas first, then one GPU at a time to the lowest share per weight.

    Raises ValueError when the quotas asked for exceed the capacity: the scheduler guarantees nothing then.
    """
    given = {claim.name: claim.guaranteed for claim in claims}
    free = capacity - sum(given.values())
    if free < 0:
        raise ValueError(
            f"quotas in use ({sum(given.values())} GPUs) exceed the capacity ({capacity} GPUs); "
            "lower the departments' deserved"
        )
    borrowed = {claim.name: 0 for claim in claims}
    while free > 0:
        hungry = [c for c in claims if c.weight > 0 and given[c.name] < c.ceiling]
        if not hungry:
            break
        # Ties go to the earlier queue, as to the older one in KAI.
        lucky = min(hungry, key=lambda c: (borrowed[c.name] + 1) / c.weight)
        given[lucky.name] += 1
        borrowed[lucky.name] += 1
        free -= 1
    return given


def effective_limit(*limits: float) -> float:
    """The lowest limit of a queue and its parents, -1 when none is limited."""
    bounded = [limit for limit in limits if limit != UNLIMITED]
    return min(bounded) if bounded else UNLIMITED
