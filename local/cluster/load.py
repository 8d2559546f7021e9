"""Loading the kit's own images, which no registry has, into the nodes of the running cluster."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from local import engine, paths, shell
from local.cluster import create


def stamp(kind: str) -> Path:
    """Return the file that says which archive of a kind was loaded into this cluster."""
    return paths.STATE / f"loaded-{kind}"


def loaded(kind: str, archive: Path) -> bool:
    """Return whether the nodes of this very cluster have this archive of a kind."""
    return create.exists() and stamp(kind).exists() and stamp(kind).read_text() == _identity(archive)


def load(kind: str, archive: Path) -> None:
    """Load the images of a kind, and note it."""
    everywhere(archive)
    stamp(kind).write_text(_identity(archive))


def everywhere(archive: Path) -> None:
    """Import and unpack an archive in every worker's containerd at once, so that pods need not wait."""
    source = shlex.quote(str(archive))
    take = "podman exec -i {} ctr -n k8s.io images import - < " + source + ' & running="$running $!"'
    lines = ["set -e", "running=", *(take.format(shlex.quote(node)) for node in _nodes())]
    lines += ["for one in $running; do wait $one; done"]
    shell.run(["sh", "-c", "\n".join(lines)], env=engine.environment())


def _identity(archive: Path) -> str:
    """Return the archive's name and the cluster's, which is the id of its first namespace."""
    uid = shell.read([*create.kubectl(), "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}"])
    return f"{archive.name} {uid}"


def _nodes() -> list[str]:
    listed = json.loads(shell.read([*create.kubectl(), "get", "nodes", "-o", "json"]))["items"]
    return [node["metadata"]["name"] for node in listed if "control-plane" not in node["metadata"]["name"]]
