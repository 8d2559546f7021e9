"""Starting what enforces NetworkPolicies in a cluster whose network plugin does not.

kind's own plugin does; the point-to-point network of nodes made from packages lets everything through.
"""

from __future__ import annotations

import json
from pathlib import Path

from local import enforcer, paths, shell
from local.cluster import create, load

MANIFEST = Path(__file__).with_name("enforcer.yaml")
WAIT = "120s"


def needed() -> bool:
    """Return whether this cluster was made without kind's own network plugin."""
    made = json.loads((paths.STATE / "kind.yaml").read_text())
    return bool(made["networking"]["disableDefaultCNI"])


def start() -> None:
    """Load the image and start a pod of it on every worker; safe to repeat.

    Where it cannot run, which is the kernel's to say, it is taken away again before the CommandError.
    """
    if not needed():
        return
    load.everywhere(enforcer.archive())
    shell.run([*create.kubectl(), "apply", "--server-side", "--force-conflicts", "--filename", MANIFEST])
    rollout = ["rollout", "status", "daemonset/kube-router", "--namespace", "kube-system"]
    try:
        shell.run([*create.kubectl(), *rollout, f"--timeout={WAIT}"])
    except shell.CommandError:
        stop()
        raise


def stop() -> None:
    """Take it away; its pods take their rules back when they end."""
    options = ["--ignore-not-found", "--cascade=foreground"]
    shell.run([*create.kubectl(), "delete", *options, "--filename", MANIFEST])
