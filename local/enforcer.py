"""The image of what enforces NetworkPolicies: kube-router's controller beside Debian's iptables and ipset.

Its only root has no shell, and is no image of images.toml for that: iptables' names are links that
Debian would make when it sets the package up.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from local import bare, rootfs, tools

IMAGE = "kind.local/kube-router:2.1.0"
KIND, GROUP, ROOT = "enforcer", "kube-router", "firewall"
# The same kernel tables as kube-proxy's, whose image has Debian's default.
_LINKS = ("iptables", "iptables-save", "iptables-restore")
_TABLES = "xtables-nft-multi"


def archive() -> Path:
    """Return the cached archive of the image, named by everything that goes into it."""
    return bare.archive(KIND, ROOT, Path(__file__), tools.groups()[GROUP].folder.name)


def build() -> None:
    """Build the image and save it."""
    bare.build(IMAGE, KIND, archive(), _context)


def _context(work: Path) -> None:
    """The program and the links that Debian would have made, put over the root."""
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
