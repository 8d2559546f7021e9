"""Jobs of Helm's hooks that outlived their Helm.

Helm removes a hook's Job when it saw it succeed. A Helm that was killed, or whose hook failed, leaves it, and
every later install or upgrade ends with "already exists".
"""

from __future__ import annotations

from day2.healing.command import Json, say
from day2.healing.releases import TYPE, known, owned
from validation.cluster import Cluster

HOOK = "helm.sh/hook"


def namespaces(state: Json) -> set[str]:
    """Namespaces that the stack owns and has a release in, or was about to."""
    releases = [item.get("inputs") or {} for item in known(state) if item["type"] == TYPE]
    return owned(state) & {str(inputs.get("namespace")) for inputs in releases}


def remove(cluster: Cluster, state: Json) -> bool:
    """Remove Jobs of hooks from those namespaces; only to be asked while no Helm is at work there."""
    found = False
    for namespace in sorted(namespaces(state)):
        for job in cluster.items(f"/apis/batch/v1/namespaces/{namespace}/jobs"):
            if HOOK in (job["metadata"].get("annotations") or {}):
                name = job["metadata"]["name"]
                say(f"job {namespace}/{name}: removing what a Helm hook left")
                found |= cluster.delete(f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}")
    return found
