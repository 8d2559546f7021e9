"""One run at a time: it holds a Lease while it has objects, so that no other takes them for left-overs.

It lies in namespace default: that is on every cluster and cannot be deleted, policies that guard system's
namespaces (kube-*) leave it alone, and Leases in kube-node-lease are read as what kubelets say.

Whether a holder is alive is told by two looks, never by comparing clocks of different machines: a run at work
renews its Lease every few seconds.
"""

from __future__ import annotations

import getpass
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from validation import names
from validation.cluster import Cluster, ClusterError

Json = dict[str, Any]
NAMESPACE, NAME = "default", names.PART_OF
LEASES = names.in_namespace(names.LEASES, NAMESPACE)
LEASE = f"{LEASES}/{NAME}"
RENEW_SECONDS = 10.0
# Without a renewal for so long a holder is dead: one that waits half a minute for an answer renews sooner.
DEAD_SECONDS = 60.0


def holder(run: Json, folder: Path) -> str:
    """What a run (run.json) is called in the Lease, for people; no two runs are called the same."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # A container's user may have no name.
        user = str(os.getuid())
    who = f"{user}@{socket.gethostname()}"
    return f"{who}, begun {run['started']}, report folder {folder.resolve().name} (run {run['id']})"


def take(
    cluster: Cluster,
    own: str,
    say: Callable[[str], None],
    dead_seconds: float = DEAD_SECONDS,
    interval: float = 2.0,
) -> str:
    """Take the Lease for `own`: "" when it is ours, else the run that holds it and is alive.

    A holder that does not renew for `dead_seconds` loses it. ClusterError when it cannot be read or written.
    """
    first: tuple[str, str] | None = None
    deadline = 0.0
    while True:
        found = cluster.find(LEASE)
        spec = (found or {}).get("spec") or {}
        by = _by(found)
        seen = by, str(spec.get("renewTime"))
        if by in ("", own) or (first == seen and time.monotonic() >= deadline):
            if _write(cluster, own, found):
                return ""
            continue
        if first is None:
            first, deadline = seen, time.monotonic() + dead_seconds
            say(
                f"lease {NAMESPACE}/{NAME} is held by {by}; waiting up to {dead_seconds:g} s for a sign that "
                "this run is at work"
            )
        elif seen != first:
            return by
        time.sleep(interval)


def renew(cluster: Cluster, own: str) -> bool:
    """Say that `own` is alive; False when it does not hold the Lease. ClusterError without an answer."""
    found = cluster.find(LEASE)
    return bool(found) and _by(found) == own and _write(cluster, own, found)


def release(cluster: Cluster, own: str) -> None:
    """Give the Lease back if `own` holds it. ClusterError without an answer."""
    if _by(cluster.find(LEASE)) == own:
        cluster.delete(LEASE)


def keep(cluster: Cluster, own: str, over: threading.Event, alive: Callable[[], bool]) -> None:
    """Renew what `own` holds until `over`, then give it back; a dead run's is not renewed."""
    held = False
    while not over.wait(RENEW_SECONDS):
        if not alive():
            continue
        try:
            was, held = held, renew(cluster, own)
            if was and not held:
                print(f"lease {NAMESPACE}/{NAME} is lost: another run may be at work", file=sys.stderr)
        except ClusterError as error:
            print(f"lease not renewed: {error}", file=sys.stderr)
    try:
        release(cluster, own)
    except ClusterError as error:
        print(f"lease not given back: {error}", file=sys.stderr)


def _by(found: Json | None) -> str:
    return str(((found or {}).get("spec") or {}).get("holderIdentity") or "")


def _write(cluster: Cluster, own: str, found: Json | None) -> bool:
    """Make or change the Lease; False when somebody else did meanwhile."""
    now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    spec: Json = {"holderIdentity": own, "renewTime": now, "leaseDurationSeconds": int(DEAD_SECONDS)}
    if _by(found) != own:
        spec["acquireTime"] = now
    try:
        if found is None:
            labels = {names.MANAGED_BY_LABEL: names.MANAGED_BY, names.PART_OF_LABEL: names.PART_OF}
            kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
            cluster.create(LEASES, {**kind, "metadata": {"name": NAME, "labels": labels}, "spec": spec})
        else:
            # The version makes the server refuse a change of what somebody else changed meanwhile.
            version = {"resourceVersion": found["metadata"]["resourceVersion"]}
            cluster.patch(LEASE, {"metadata": version, "spec": spec})
    except ClusterError as error:
        if error.status == 409 or (error.status == 404 and found is not None):
            return False
        raise
    return True
