"""Creating and removing the kind cluster, by its name and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from local import engine, node, paths, shell, tools
from local.cluster import config, mirror, modules, network, watches

CONTEXT = f"kind-{paths.CLUSTER}"
WAIT = "180s"


def kubectl() -> list[str]:
    """Return the words of kubectl for this cluster."""
    return [str(paths.BIN / "kubectl"), "--kubeconfig", str(paths.KUBECONFIG), "--context", CONTEXT]


def fingerprint() -> str:
    """Return the key of all that the cluster is made of."""
    image = f"{mirror.NODE_IMAGE} {mirror.address()}" if mirror.upstream() else node.name()
    configuration = config.kind_config(built=not mirror.upstream())
    return paths.key([json.dumps(configuration), json.dumps(config.admission()), image])


def exists() -> bool:
    """Return whether a cluster of the same configuration answers."""
    stamp = paths.STATE / "cluster"
    if not stamp.exists() or stamp.read_text() != fingerprint():
        return False
    return shell.succeeds([*kubectl(), "--request-timeout=5s", "get", "--raw", "/readyz"])


def create() -> None:
    """Create the cluster and wait until its nodes and system pods are ready; replaces an older one."""
    remove()
    paths.STATE.mkdir(parents=True, exist_ok=True)
    image = mirror.node_image() if mirror.upstream() else node.name()
    built = node.made_here(image)
    (paths.STATE / "admission.yaml").write_text(json.dumps(config.admission(), indent=2))
    (paths.STATE / "kind.yaml").write_text(json.dumps(config.kind_config(built=built), indent=2))
    mirror.write_hosts()
    modules.provide()
    watches.provide()
    name = ["--name", paths.CLUSTER, "--image", image, "--retain"]
    files: list[str | Path] = ["--config", paths.STATE / "kind.yaml", "--kubeconfig", paths.KUBECONFIG]
    shell.run([_kind(), "create", "cluster", *name, *files], env=engine.environment())
    if built:
        network.connect(kubectl())
    _wait_for("nodes")
    for namespace in ("kube-system", "local-path-storage"):
        _wait_for("pods", "--namespace", namespace)
    (paths.STATE / "cluster").write_text(fingerprint())


def remove() -> None:
    """Delete the cluster of this name with its containers and volumes, if there is one."""
    if shutil.which("podman") and _kind().exists():
        engine.configure()
        name: list[str | Path] = ["--name", paths.CLUSTER, "--kubeconfig", paths.KUBECONFIG]
        shell.run([_kind(), "delete", "cluster", *name], env=engine.environment())
        network.disconnect()
        shell.succeeds(["podman", "network", "rm", paths.CLUSTER], env=engine.environment())
        modules.withdraw()
    (paths.STATE / "cluster").unlink(missing_ok=True)
    # What the stack's state tells of went with the cluster.
    shutil.rmtree(paths.PULUMI_STATE, ignore_errors=True)
    paths.KUBECONFIG.unlink(missing_ok=True)


def _wait_for(kind: str, *where: str) -> None:
    shell.run([*kubectl(), "wait", "--for=condition=Ready", kind, "--all", f"--timeout={WAIT}", *where])


def _kind() -> Path:
    """Return kind: in build/bin, or in the cache, where a checkout that built nothing yet finds it."""
    placed = paths.BIN / "kind"
    return placed if placed.exists() else tools.groups()["kind"].folder / "kind"
