"""Who holds a stack's lock, and whether that run is still alive.

Backends without a service (files, S3, …) keep a file per lock with host, process and time; Pulumi shows them
to whoever comes second. Pulumi's own service shows nobody.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import psutil

from day2.healing.command import HealError, Pulumi

LOCKED = "the stack is currently locked by"
CONFLICT = "Another update is currently in progress"
OWNER = re.compile(r"created by (?P<user>\S*)@(?P<host>\S+) \(pid (?P<pid>\d+)\) at (?P<since>\S+)")
# The clock may have been set since: a process is another one only when it is younger by more than this.
TOLERANCE_SECONDS = 60


@dataclass(frozen=True)
class Owner:
    """The run that took a lock; `since` has a time zone."""

    user: str
    host: str
    pid: int
    since: datetime

    def __str__(self) -> str:
        return f"process {self.pid} of {self.user} on {self.host} since {self.since:%Y-%m-%d %H:%M:%S %Z}"


def owners(pulumi: Pulumi, project: str) -> list[Owner]:
    """Who holds the stack's lock now, none where it is free.

    Asks by refreshing nothing but the stack's own root, which no provider takes part in. Raises HealError
    where the backend does not tell whose lock it is, and where a stack that has something cannot be asked.
    """
    root = f"urn:pulumi:{pulumi.stack}::{project}::pulumi:pulumi:Stack::{project}-{pulumi.stack}"
    done = pulumi.call("refresh", "--yes", "--skip-preview", "--target", root)
    text = done.stdout + done.stderr
    if CONFLICT in text:
        raise HealError(
            f"stack {pulumi.stack}: another update is in progress, the backend does not say whose; "
            f"expected none; wait for it, or run `pulumi cancel --stack {pulumi.stack}` and this again "
            "if you know that it is gone"
        )
    if LOCKED in text:
        return parse(text)
    # Said with the lock in hand: there is no root before the first run.
    answered = done.returncode == 0 or f"no resource named '{root}'" in text
    if not answered and pulumi.state().get("resources"):
        raise HealError(
            f"stack {pulumi.stack}: who holds its lock cannot be asked: {pulumi.ended(done, 'refresh')}\n"
            "expected an answer; put that right (a passphrase, access to the backend or to its keys) "
            "and run this again"
        )
    return []


def still(pulumi: Pulumi, project: str, found: Sequence[Owner]) -> None:
    """Raises HealError unless the lock is in the same hands as when it was `found`."""
    if set(now := owners(pulumi, project)) != set(found):
        raise HealError(
            f"stack {pulumi.stack}: found its lock held by {_listed(now)} meanwhile; "
            f"expected {_listed(found)}, which is gone; run this again once nobody is at work on the stack"
        )


def _listed(found: Sequence[Owner]) -> str:
    return ", ".join(map(str, found)) or "nobody"


def parse(text: str) -> list[Owner]:
    """The owners that Pulumi's message names. Raises HealError for a message without one."""
    found = [
        Owner(m["user"], m["host"], int(m["pid"]), datetime.fromisoformat(m["since"]))
        for m in OWNER.finditer(text)
    ]
    if not found:
        raise HealError(f"lock: found an owner that cannot be read in {text.strip()!r}; run `pulumi cancel`")
    return found


def refuse_living(stack: str, found: Sequence[Owner]) -> None:
    """Raises HealError for the first lock whose run may be at work."""
    for owner in found:
        if not gone(owner):
            raise HealError(
                f"stack {stack}: locked by {owner}; expected no other run; "
                f"wait for it, or run `pulumi cancel --stack {stack}` if you know that it is gone"
            )


def gone(owner: Owner) -> bool:
    """Whether the run was on this machine and its process has ended.

    Its number may have been given to another process since: that is no Pulumi, or began after the lock.
    """
    if owner.host != socket.gethostname():
        return False
    try:
        process = psutil.Process(owner.pid)
        with process.oneshot():
            # A killed process whose parent has not looked yet is no run either.
            if process.status() == psutil.STATUS_ZOMBIE or not process.name().startswith("pulumi"):
                return True
            return bool(process.create_time() > owner.since.timestamp() + TOLERANCE_SECONDS)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
