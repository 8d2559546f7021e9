"""Debian roots: one for images that need a shell or iptables, one for the nodes."""

from __future__ import annotations

from pathlib import Path

from local import paths, shell

SUITE = "bookworm"  # systemd 252: later ones no longer boot on cgroup v1

PACKAGES = {
    "debian": ["bash", "ca-certificates", "iptables", "nftables", "conntrack", "procps", "iproute2"],
    "node": [
        *["systemd", "dbus", "containerd", "runc", "containernetworking-plugins", "conntrack", "iptables"],
        *[
            "nftables",
            "iproute2",
            "ethtool",
            "kmod",
            "pigz",
            "curl",
            "ca-certificates",
            "jq",
            "procps",
            "socat",
        ],
        *["mount", "util-linux", "e2fsprogs", "libseccomp2"],
    ],
}


def archive(kind: str) -> Path:
    """Return where the root's tar lies in the cache; `kind` is a key of PACKAGES."""
    return paths.cache() / "roots" / f"{kind}-{paths.key([SUITE, *PACKAGES[kind]])}.tar"


def make(kind: str) -> None:
    """Make a root from Debian's packages, from the sources that this machine's apt uses."""
    target = archive(kind)
    target.parent.mkdir(parents=True, exist_ok=True)
    work = target.with_suffix(".partial.tar")
    include = ",".join(PACKAGES[kind])
    shell.run(["mmdebstrap", "--variant=minbase", f"--include={include}", SUITE, work, *_sources()])
    work.rename(target)


def _sources() -> list[Path]:
    """Return this machine's source files for SUITE, so that its mirror and proxies count."""
    listed = Path("/etc/apt/sources.list")
    folder = Path("/etc/apt/sources.list.d")
    files = [
        *([listed] if listed.exists() else []),
        *sorted(folder.glob("*.sources")),
        *sorted(folder.glob("*.list")),
    ]
    found = [file for file in files if SUITE in file.read_text()]
    if not found:
        raise FileNotFoundError(
            f"/etc/apt: found no source for Debian {SUITE}, which the node image is made of; "
            f"add one for {SUITE}, or use a machine where upstream images can be pulled"
        )
    return found
