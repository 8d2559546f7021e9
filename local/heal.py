"""Putting right what a killed `pulumi up` leaves: a lock, pending operations, a stuck Helm release."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path

from local import paths, shell

PENDING = ("pending-install", "pending-upgrade", "pending-rollback", "uninstalling")


class StackInUseError(Exception):
    """Another run holds the stack's lock; the text names it."""


def locks(stack: str) -> list[Path]:
    """Return the lock files of a stack in the local backend."""
    return sorted((paths.PULUMI_STATE / ".pulumi" / "locks").glob(f"**/{stack}/*.json"))


def dead(lock: Path) -> bool:
    """Return whether a lock was taken on this machine by a process that is gone.

    Raises StackInUseError for a lock of a living process or of another machine.
    """
    owner = json.loads(lock.read_text())
    here = owner.get("hostname") == socket.gethostname()
    if here and not _alive(int(owner["pid"])):
        return True
    where = "on this machine" if here else f"on {owner.get('hostname')}"
    raise StackInUseError(
        f"stack {lock.parent.name}: locked by process {owner.get('pid')} {where}; expected no other run; "
        "wait for it, or run `pulumi cancel` if you know that it is gone"
    )


def heal(stack: str, pulumi: list[str], kubectl: list[str], env: Mapping[str, str]) -> None:
    """Undo what a dead run left: its lock, its pending operations, a Helm release between two states."""
    held = [lock for lock in locks(stack) if dead(lock)]
    if held:
        shell.say(f"stack {stack}: taking back the lock of a run that is gone")
        shell.run([*pulumi, "cancel", "--stack", stack, "--yes"], env=env, cwd=paths.ROOT)
    _free_releases(kubectl, env)
    state = json.loads(shell.read([*pulumi, "stack", "export", "--stack", stack], env=env, cwd=paths.ROOT))
    if (state.get("deployment") or {}).get("pending_operations"):
        shell.say(f"stack {stack}: clearing operations that a dead run had begun")
        clear = ["refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--non-interactive"]
        shell.run([*pulumi, *clear, "--stack", stack], env=env, cwd=paths.ROOT)


def _free_releases(kubectl: list[str], env: Mapping[str, str]) -> None:
    """Forget the newest revision of a release that Helm left pending: with it no install can begin."""
    for status in PENDING:
        selector = ["--selector", f"owner=helm,status={status}", "--output", "json"]
        found = shell.read([*kubectl, "get", "secrets", "--all-namespaces", *selector], env=env)
        for item in json.loads(found)["items"]:
            name, namespace = item["metadata"]["name"], item["metadata"]["namespace"]
            shell.say(f"release {item['metadata']['labels']['name']}: freeing it from {status}")
            shell.run([*kubectl, "delete", "secret", name, "--namespace", namespace], env=env)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # A killed process whose parent has not looked yet is no run either.
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
