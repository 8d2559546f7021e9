"""The kind node image: upstream's where a registry answers, else made from packages."""

from __future__ import annotations

import shutil
import uuid
from functools import cache
from pathlib import Path

from local import engine, images, paths, rootfs, shell, storage, tools

KUBERNETES = "v1.34.9"
NAME = "localhost/runai-kit/node"
ALL = ("node", "platform", "serving", "previous")
FOLDER = paths.ROOT / "local" / "node"
BINARIES = ("kubelet", "kubeadm", "kubectl")


@cache
def name(kinds: tuple[str, ...] = ALL) -> str:
    """Return the image's name, whose tag is made of all that goes into it.

    kinds: the kinds of container images inside; kind's own node images have only "node".
    """
    archives = [images.archive(kind).name for kind in kinds]
    binaries = tools.groups()["kubernetes"].folder.name
    sources = [FOLDER, Path(__file__), Path(storage.__file__), paths.ROOT / "local/tools/kind/go.mod"]
    return f"{NAME}:{KUBERNETES}-{paths.key([*sources, rootfs.archive('node').name, binaries, *archives])}"


def exists() -> bool:
    """Return whether the image of the same inputs is in the engine's store."""
    return shell.succeeds(["podman", "image", "exists", name()], env=engine.environment())


def made_here(image: str) -> bool:
    """Return whether an image of the store is made by this module: then it has no network plugin."""
    label = ["podman", "image", "inspect", "--format", '{{index .Labels "io.runai-kit.node"}}', image]
    return shell.read(label, env=engine.environment()) == "packages"


def build(kinds: tuple[str, ...] = ALL) -> None:
    """Build the root of the node, import the container images into it and commit the result."""
    env = engine.environment()
    work = paths.cache() / "node.work"
    shutil.rmtree(work, ignore_errors=True)
    _context(work)
    base = f"{name(kinds)}-base"
    quiet = ["--quiet", "--pull=never", "--layers=false", "--network=none"]
    shell.run(["podman", "build", *quiet, "-t", base, work], env=env)
    shutil.rmtree(work)
    container = f"runai-kit-build-{uuid.uuid4().hex[:8]}"
    try:
        _set_up(container, base, kinds, env)
        change = 'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]'
        shell.run(["podman", "commit", "--quiet", "--change", change, container, name(kinds)], env=env)
    finally:
        shell.run(["podman", "rm", "--force", "--time=0", "--volumes", "--ignore", container], env=env)
    _drop_older(name(kinds), env)


def _context(work: Path) -> None:
    kind = tools.groups()["kind"].module("sigs.k8s.io/kind") / "images" / "base" / "files"
    shutil.copytree(kind, work / "kind", ignore=shutil.ignore_patterns("containerd-fuse-overlayfs.service"))
    for path in [work / "kind", *(work / "kind").rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.copyfile(FOLDER / "Containerfile", work / "Containerfile")
    shutil.copyfile(rootfs.archive("node"), work / "root.tar")
    (work / "bin").mkdir()
    for binary in BINARIES:
        shutil.copyfile(tools.groups()["kubernetes"].folder / binary, work / "bin" / binary)
    manifests = work / "extra" / "kind" / "manifests"
    manifests.mkdir(parents=True)
    (manifests / "default-storage.yaml").write_text(storage.manifest())
    (work / "extra" / "kind" / "version").write_text(KUBERNETES)


def _set_up(container: str, base: str, kinds: tuple[str, ...], env: dict[str, str]) -> None:
    """Run setup.sh in a container of the base image; it stays for the commit."""
    mounts = [f"{images.archive(kind)}:/images/{kind}.tar:ro" for kind in kinds]
    mounts.append(f"{FOLDER / 'setup.sh'}:/setup.sh:ro")
    volumes = [word for mount in mounts for word in ("-v", mount)]
    start = ["podman", "run", "--detach", "--privileged", "--network=none", "--name", container, *volumes]
    shell.run([*start, "--entrypoint", "/bin/sleep", base, "infinity"], env=env)
    shell.run(["podman", "exec", container, "bash", "/setup.sh"], env=env)


def _drop_older(kept: str, env: dict[str, str]) -> None:
    """Remove the images of other inputs; one that a running cluster uses stays."""
    listed = shell.read(["podman", "images", "--format", "{{.Repository}}:{{.Tag}}"], env=env).splitlines()
    for image in listed:
        if image.startswith(f"{NAME}:") and not image.startswith((kept, name())):
            shell.succeeds(["podman", "rmi", image], env=env)
