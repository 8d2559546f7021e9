"""The order in which a dead run's remains are taken away.

Each step can be repeated, and what later steps need to know is taken away last: a recovery that is killed
itself is done again from its beginning.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable

from day2.healing import applied, asked, checkpoint, hooks, locks, namespaces, orphans, releases
from day2.healing.command import HealError, Json, Pulumi, say
from validation.cluster import Cluster, ClusterError

REFRESH = ("refresh", "--yes", "--skip-preview", "--clear-pending-creates")


def heal(pulumi: Pulumi, project: str, connect: Callable[[], Cluster]) -> bool:
    """Make the stack ready for the next run; returns whether anything had to be done.

    Raises HealError where another run may be at work, and where the cluster cannot be asked.
    """
    with (pulumi.project / "Pulumi.yaml").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # Of two recoveries the second finds what the first one left.
        return _heal(pulumi, project, connect)


def _heal(pulumi: Pulumi, project: str, connect: Callable[[], Cluster]) -> bool:
    before = checkpoint.state(pulumi, project)
    owners = locks.owners(pulumi, project)
    locks.refuse_living(pulumi.stack, owners)
    # Read anew: a run may have ended in between, and what it had begun is no dead run's.
    state = pulumi.state() if owners else asked.left(before, pulumi.state())
    pending = state.get("pending_operations") or []
    if owners or pending:
        for name in orphans.end(pulumi.project):
            say(f"ended {name}, which a dead run had left at work")
    if pending:
        _free(state, owners, connect)
    hooked, missing = _remains(state, connect)
    for owner in owners:
        say(f"stack {pulumi.stack}: taking back the lock of {owner}, which is gone")
    if owners:
        # It takes away whatever lock there is, and much time may have gone by.
        locks.still(pulumi, project, owners)
        pulumi.run("cancel", "--yes")
    if pending:
        say(f"stack {pulumi.stack}: clearing {len(pending)} operations that a dead run had begun")
    if pending or missing:
        pulumi.run(*REFRESH)
        _finish_deletions(pulumi, state)
    return bool(owners or pending or hooked or missing)


def _free(state: Json, owners: list[locks.Owner], connect: Callable[[], Cluster]) -> None:
    since = min((owner.since for owner in owners), default=None)
    try:
        cluster = connect()
        releases.free(cluster, state, since)
        applied.disown(cluster, state, since)
    except ClusterError as error:
        raise HealError(
            f"Helm releases: {error}; expected a cluster that answers; try again when it does"
        ) from None


def _remains(state: Json, connect: Callable[[], Cluster]) -> tuple[bool, bool]:
    """Whether Helm hooks had left Jobs, and whether a namespace that the state tells of is not there.

    Also after a run that ended by itself: its hook may have failed, or a destroy have been cut short. A
    cluster that does not answer is no error here: where nothing else is wrong, `up` tells.
    """
    try:
        cluster = connect()
        return hooks.remove(cluster, state), namespaces.missing(cluster, state)
    except ClusterError as error:
        say(f"jobs of Helm hooks and namespaces: not looked for, {error}")
        return False, False


def _finish_deletions(pulumi: Pulumi, state: Json) -> None:
    """A release whose uninstall was cut short is neither there nor gone: it goes now."""
    left = {item["urn"] for item in pulumi.state().get("resources") or []}
    for operation in releases.begun(state):
        if operation.operation == "deleting" and operation.urn in left:
            say(f"release {operation.name}: ending its removal")
            pulumi.run("destroy", "--yes", "--skip-preview", "--target", operation.urn, "--target-dependents")
