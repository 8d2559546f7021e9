"""What a test claims while it runs: tests whose claims touch never run beside each other."""

from __future__ import annotations

from dataclasses import dataclass

from validation.declared import Test

# Chains of checks.yml.
GPU, CPU = "gpu", "cpu"


@dataclass(frozen=True)
class Claim:
    """`pool`: nodes that it holds GPUs of and judges, by their pool, None = all nodes and all numbers.

    `stack`: it judges what the stack's own queues hold. `processor`: its bounds are about computing.
    """

    pool: str | None
    stack: bool = False
    processor: bool = False

    def touches(self, other: Claim) -> bool:
        """Would one of the two see, take or slow down what the other is about?"""
        if self.pool is None or other.pool is None or self.pool == other.pool:
            return True
        return (self.stack and other.stack) or (self.processor and other.processor)


def claim(test: Test, pool: str, lent: str) -> Claim:
    """A test's claim; `pool` is the suite's, `lent` the one made for chain gpu."""
    if test.chain == GPU:
        return Claim(lent)
    if test.chain == CPU:
        return Claim(pool, stack=True, processor=True)
    return Claim(None, stack=True)
