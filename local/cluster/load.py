"""Loading the kit's own images into the nodes of the running cluster."""

from __future__ import annotations

import json
from pathlib import Path

from local import engine, images, paths, shell
from local.cluster import create


def stamp() -> Path:
    """Return the file that says which archive was loaded into this cluster."""
    return paths.STATE / "loaded"


def loaded() -> bool:
    """Return whether the nodes of this very cluster have today's archive."""
    return create.exists() and stamp().exists() and stamp().read_text() == _identity()


def load() -> None:
    """Import the archive into every node's containerd."""
    archive = images.archive("own")
    for node in _nodes():
        target = f"{node}:/{archive.name}"
        shell.run(["podman", "cp", archive, target], env=engine.environment())
        script = f"ctr -n k8s.io images import /{archive.name} && rm /{archive.name}"
        shell.run(["podman", "exec", node, "sh", "-c", script], env=engine.environment())
    stamp().write_text(_identity())


def _identity() -> str:
    """Return the archive's name and the cluster's, which is the id of its first namespace."""
    uid = shell.read([*create.kubectl(), "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}"])
    return f"{images.archive('own').name} {uid}"


def _nodes() -> list[str]:
    listed = json.loads(shell.read([*create.kubectl(), "get", "nodes", "-o", "json"]))["items"]
    return [node["metadata"]["name"] for node in listed if "control-plane" not in node["metadata"]["name"]]
