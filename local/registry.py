"""A registry in the cluster's container network, filled with the built images under their upstream names.

It stands in for the public registries where these cannot be reached, so that the path with
upstream images (pulls by the nodes, nothing built) is run for real.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from local import engine, images, node, paths, rootfs, shell
from local.cluster import mirror

NAME = f"{paths.CLUSTER}-registry"
IMAGE = "localhost/runai-kit/registry"
BINARY = Path("/usr/bin/docker-registry")  # of Debian's package of the same name
CORE = ("node",)
KINDS = ("platform", "serving", "previous", "own", "lab")


def start() -> str:
    """Start the registry and fill it; returns its address, as the nodes and this machine reach it."""
    env = engine.environment()
    stop()
    _build(env)
    if not shell.succeeds(["podman", "network", "exists", paths.CLUSTER], env=env):
        shell.run(["podman", "network", "create", paths.CLUSTER], env=env)
    shell.run(["podman", "run", "--detach", "--name", NAME, "--network", paths.CLUSTER, IMAGE], env=env)
    template = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
    host = f"{shell.read(['podman', 'inspect', '--format', template, NAME], env=env)}:5000"
    _fill(host, env)
    return f"http://{host}"


def stop() -> None:
    """Remove the registry and what it holds."""
    remove = ["podman", "rm", "--force", "--time=0", "--volumes", "--ignore", NAME]
    shell.run(remove, env=engine.environment())


def requests() -> str:
    """Return the registry's log: one line per request, which shows who pulled what."""
    return shell.read(["podman", "logs", NAME], env=engine.environment())


def _build(env: dict[str, str]) -> None:
    work = paths.cache() / "registry.work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    shutil.copyfile(BINARY, work / "registry")
    (work / "registry").chmod(0o755)
    (work / "config.yml").write_text(
        "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: /var/lib/registry\nhttp:\n  addr: :5000\n"
    )
    (work / "Containerfile").write_text(
        f"FROM {rootfs.image('debian')}\n"
        "COPY registry config.yml /\n"
        'ENTRYPOINT ["/registry", "serve", "/config.yml"]\n'
    )
    quiet = ["--quiet", "--pull=never", "--layers=false", "--network=none"]
    shell.run(["podman", "build", *quiet, "-t", IMAGE, work], env=env)
    shutil.rmtree(work)


def _fill(host: str, env: dict[str, str]) -> None:
    push = ["skopeo", "copy", "--quiet", "--dest-tls-verify=false"]
    for kind in KINDS:
        for row in images.table(kind):
            source = f"docker-archive:{images.archive(kind)}:{row['name']}"
            shell.run([*push, source, f"docker://{_path(host, row['name'])}"], env=env)
    if not shell.succeeds(["podman", "image", "exists", node.name(CORE)], env=env):
        node.build(CORE)
    target = f"docker://{_path(host, mirror.NODE_IMAGE)}"
    shell.run([*push, f"containers-storage:{node.name(CORE)}", target], env=env)


def _path(host: str, image: str) -> str:
    return f"{host}/{image.split('/', 1)[1]}"
