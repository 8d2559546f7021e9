"""Starting what enforces NetworkPolicies in a cluster whose network plugin does not.

kind's own plugin does; the point-to-point network of nodes made from packages lets everything through.
"""

from __future__ import annotations

import json
from pathlib import Path

from local import enforcer, paths, shell
from local.cluster import create, load, mirror

MANIFEST = Path(__file__).with_name("enforcer.yaml")
WAIT = "120s"


def needed() -> bool:
    """Return whether this cluster was made without kind's own network plugin."""
    made = json.loads((paths.STATE / "kind.yaml").read_text())
    return bool(made["networking"]["disableDefaultCNI"])


def started() -> bool:
    """Return whether today's enforcer was started in this very cluster, or none is needed."""
    if not create.exists():
        return False
    return not needed() or (_stamp().exists() and _stamp().read_text() == _identity())


def start() -> None:
    """Load the image, where no mirror has it, and start a pod of it on every worker.

    Where it cannot run, which is the kernel's to say, it is taken away: the cluster is as good without it,
    but for preflight.network_policies, which tells that what the stack asks for protects nothing.
    """
    if not needed():
        return
    if not mirror.address():
        load.everywhere(enforcer.archive())
    shell.run([*create.kubectl(), "apply", "--server-side", "--force-conflicts", "-f", MANIFEST])
    rollout = ["rollout", "status", "daemonset/kube-router", "--namespace", "kube-system"]
    try:
        shell.run([*create.kubectl(), *rollout, f"--timeout={WAIT}"])
    except shell.CommandError as error:
        shell.run([*create.kubectl(), "delete", "--filename", MANIFEST])
        shell.say(f"NetworkPolicies are not enforced in this cluster: {error}")
    else:
        _stamp().write_text(_identity())


def _stamp() -> Path:
    return paths.STATE / "enforcer"


def _identity() -> str:
    """Return what was started, and the cluster's id."""
    return f"{paths.key([MANIFEST])} {enforcer.archive().name} {load.cluster_id()}"
