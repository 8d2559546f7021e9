"""Running what people run after the installation: `make drift`, `make destroy`, and bringing the stack up."""

from __future__ import annotations

import sys

from tests.acceptance.commands import STACK, YES, Done, pulumi, run

# What `make drift` runs; make itself would turn every failure into 2.
DRIFT = (sys.executable, "-m", "day2.drift", STACK)


def drift() -> Done:
    """What `make drift` runs, with its own exit code."""
    return run(*DRIFT, timeout=120)


def destroy(*options: str) -> Done:
    """What `make destroy YES=1` runs."""
    return run(sys.executable, "-m", "day2.destroy", STACK, "--yes", *options)


def up(*options: str) -> Done:
    """`pulumi up` of the stack as it is in its file."""
    return pulumi("up", *YES, *options).well()


def make_up() -> None:
    """What `make up` does to the local stack, whatever an earlier test left of it."""
    run(sys.executable, "-c", "from local import stack; stack.up()").well()


def resources() -> list[str]:
    """URNs in the stack's state."""
    told = pulumi("stack", "--show-urns").well().text
    return [line.split("URN: ")[1] for line in told.splitlines() if "URN: " in line]
