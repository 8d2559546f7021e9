"""Debian roots: for images that need a shell or iptables, for the nodes, for serving, and with PyTorch."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local import engine, paths, shell

SUITE = "bookworm"  # systemd 252: later ones no longer boot on cgroup v1
LATER = "trixie"  # HAProxy 3.0, PyTorch 2.6

# Documentation, translations, headers and tests; licences stay, and so do Python files, which are compiled.
SPARE = (
    *("/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/doc/*", "/usr/include/*"),
    *("/usr/lib/libtorch-test/*", "/usr/lib/python3/dist-packages/torch/bin/test_*"),
    "/usr/lib/python3/dist-packages/fsspec/implementations/tests/cassettes/*",
)
# AMD's GPU stack, which nothing but plugins of one message library loads: a fifth of the root.
AMD = tuple(
    f"/usr/lib/x86_64-linux-gnu/{name}*"
    for name in (
        "libLLVM",
        "libamd_comgr",
        "libamdhip64",
        "libhsa-runtime64",
        "ucx/libuct_rocm",
        "ucx/libucm_rocm",
    )
)
# What a small server does without: just-in-time compilation, without whose module PostgreSQL goes on, Perl of
# Debian's wrappers, sources of locales.
WRAPPED = (
    *("/usr/lib/postgresql/*/lib/llvmjit*.so", "/usr/lib/postgresql/*/lib/bitcode/*"),
    *(f"/usr/lib/x86_64-linux-gnu/{name}*" for name in ("libLLVM", "libz3", "libperl", "perl")),
    *("/usr/share/perl*", "/usr/share/i18n/*"),
)


BASE = "localhost/runai-kit"
_importing = threading.Lock()


@dataclass(frozen=True)
class Root:
    """A root's suite, its packages beside the minimal ones, and path patterns that stay out of it.

    bare: only these packages and what they depend on, unpacked and not set up: no shell, no alternatives.
    """

    suite: str
    packages: Sequence[str]
    without: Sequence[str] = ()
    bare: bool = False


ROOTS = {
    "debian": Root(
        SUITE, ["bash", "ca-certificates", "iptables", "nftables", "conntrack", "procps", "iproute2"]
    ),
    "node": Root(
        SUITE,
        [
            *[
                "systemd",
                "dbus",
                "containerd",
                "runc",
                "containernetworking-plugins",
                "conntrack",
                "iptables",
            ],
            *["nftables", "iproute2", "ethtool", "kmod", "pigz", "curl", "ca-certificates", "jq", "procps"],
            *["socat", "mount", "util-linux", "e2fsprogs", "libseccomp2"],
        ],
    ),
    "trixie": Root(LATER, ["bash", "ca-certificates", "curl", "haproxy"], SPARE),
    "lab": Root(
        LATER,
        [
            *("bash", "ca-certificates", "procps"),
            *("libopenblas0-pthread", "python3-numpy", "python3-torch", "python3-torchvision"),
        ],
        [*SPARE, *AMD],
    ),
    "firewall": Root(SUITE, ["iptables", "ipset"], bare=True),
    "database": Root(SUITE, ["postgresql-15", "dash"], [*SPARE, *WRAPPED], bare=True),
}


def archive(kind: str) -> Path:
    """Return where the root's tar lies in the cache; `kind` is a key of ROOTS."""
    root = ROOTS[kind]
    inputs = [root.suite, *root.packages, *root.without, *(["bare"] if root.bare else [])]
    return paths.cache() / "roots" / f"{kind}-{paths.key(inputs)}.tar"


def make(kind: str) -> None:
    """Make a root from Debian's packages, from the sources that this machine's apt uses."""
    root, target = ROOTS[kind], archive(kind)
    target.parent.mkdir(parents=True, exist_ok=True)
    work = target.with_suffix(".partial.tar")
    variant = "extract" if root.bare else "minbase"
    options = [f"--variant={variant}", f"--include={','.join(root.packages)}"]
    options += [f"--dpkgopt=path-exclude={pattern}" for pattern in root.without]
    options += ["--dpkgopt=path-include=/usr/share/doc/*/copyright"] if root.without else []
    with tempfile.TemporaryDirectory() as folder:
        sources = _sources(root.suite, Path(folder))
        shell.run(["mmdebstrap", *options, root.suite, work, *sources])
    work.rename(target)
    for older in target.parent.glob(f"{kind}-*.tar"):
        if older != target:
            older.unlink()


def image(kind: str) -> str:
    """Return the image of a root, imported first where the engine does not have it."""
    env = engine.environment()
    name = f"{BASE}/{kind}:{archive(kind).stem}"
    with _importing:
        if not shell.succeeds(["podman", "image", "exists", name], env=env):
            shell.run(["podman", "import", archive(kind), name], env=env)
    return name


def _sources(suite: str, folder: Path) -> list[Path]:
    """Return this machine's source files for a suite, so that its mirror and proxies count.

    A suite that apt does not list is asked for at the place of SUITE, with the same keys:
    those files are written into `folder`.
    """
    found = _listing(suite)
    if not found and suite != SUITE:
        found = [folder / file.name for file in _listing(SUITE)]
        for file, original in zip(found, _listing(SUITE), strict=True):
            file.write_text(re.sub(rf"\b{SUITE}\b", suite, original.read_text()))
    if not found:
        raise FileNotFoundError(
            f"/etc/apt: found no source for Debian {SUITE}, which the node image is made of; "
            f"add one for {SUITE}, or use a machine where upstream images can be pulled"
        )
    return found


def _listing(suite: str) -> list[Path]:
    listed = Path("/etc/apt/sources.list")
    folder = Path("/etc/apt/sources.list.d")
    files = [
        *([listed] if listed.exists() else []),
        *sorted(folder.glob("*.sources")),
        *sorted(folder.glob("*.list")),
    ]
    return [file for file in files if suite in file.read_text()]
