"""Whether another run is at work on the stack: a destroy beside it would take away what that one needs."""

from __future__ import annotations

from components import private
from day2.healing import locks
from day2.healing.command import HealError, Pulumi


def refusal(pulumi: Pulumi) -> str:
    """Why a destroy must not begin now, with who holds the stack's lock; empty where nobody does."""
    # The question begins the provider, which copies the kubeconfig into the temp folder.
    private.use()
    try:
        found = locks.owners(pulumi, pulumi.named())
        locks.refuse_living(pulumi.stack, found)
    except HealError as error:
        return str(error)
    dead = ", ".join(map(str, found))
    return dead and (
        f"stack {pulumi.stack}: locked by {dead}, which is gone; expected a free stack; "
        f"run `make heal ENV={pulumi.stack}` first"
    )
