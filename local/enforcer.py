"""The image of what enforces NetworkPolicies: kube-router's controller beside Debian's iptables and ipset.

Its only root has no shell, and is no image of images.toml for that: iptables' names are links that
Debian would make when it sets the package up.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from local import engine, paths, rootfs, shell, tools

IMAGE = "kind.local/kube-router:2.1.0"
GROUP, ROOT = "kube-router", "firewall"
# The same kernel tables as kube-proxy's, whose image has Debian's default.
_LINKS = ("iptables", "iptables-save", "iptables-restore")
_TABLES = "xtables-nft-multi"


def archive() -> Path:
    """Return the cached archive of the image, named by everything that goes into it."""
    key = paths.key([Path(__file__), tools.groups()[GROUP].folder.name, rootfs.archive(ROOT).name])
    return paths.cache() / "images" / f"enforcer-{key}.tar"


def build() -> None:
    """Build the image and save it."""
    target, env = archive(), engine.environment()
    target.parent.mkdir(parents=True, exist_ok=True)
    work = target.with_suffix(".work")
    shutil.rmtree(work, ignore_errors=True)
    commands = work / "root" / "usr" / "sbin"
    commands.mkdir(parents=True)
    shutil.copyfile(tools.groups()[GROUP].folder / "kube-router", commands / "kube-router")
    (commands / "kube-router").chmod(0o755)
    for name in _LINKS:
        (commands / name).symlink_to(_TABLES)
    (work / "Containerfile").write_text(
        f"FROM {rootfs.image(ROOT)}\n"
        "COPY root/ /\n"
        'ENV PATH="/usr/sbin:/usr/bin:/sbin:/bin"\n'
        'ENTRYPOINT ["/usr/sbin/kube-router"]\n'
    )
    quiet = ["--quiet", "--pull=never", "--layers=false", "--network=none"]
    shell.run(["podman", "build", *quiet, "-t", IMAGE, work], env=env)
    partial = target.with_suffix(".partial.tar")
    partial.unlink(missing_ok=True)
    shell.run(["podman", "save", "--format", "docker-archive", "-o", partial, IMAGE], env=env)
    shell.run(["podman", "rmi", "--force", IMAGE], env=env)
    partial.rename(target)
    for older in target.parent.glob("enforcer-*.tar"):
        if older != target:
            older.unlink()
    shutil.rmtree(work)
