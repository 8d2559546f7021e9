"""What images hold from package registries, pinned by hash: Python wheels and npm packages."""

from __future__ import annotations

import base64
import hashlib
import shutil
import tarfile
from pathlib import Path

from local import paths, shell

WHEELS = paths.ROOT / "local" / "wheels"
NPM = WHEELS / "npm.lock"
PYTHON = "3.13"  # of the root `lab`
PLATFORM = "x86_64-manylinux_2_40"


def lock(name: str) -> Path:
    """Return the lock file of a set of wheels; local/wheels/README.md tells how it is renewed."""
    return WHEELS / f"{name}.lock"


def wheels(name: str) -> Path:
    """Return a folder with the wheels of a lock file, as an image's Python imports them."""
    target = paths.cache() / "wheels" / f"{name}-{paths.key([lock(name), Path(__file__)])}"
    if target.exists():
        return target
    work = _emptied(target)
    place = ["--target", str(work), "--python-version", PYTHON, "--python-platform", PLATFORM]
    pinned = ["--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", str(lock(name))]
    uv = paths.VENV / "bin" / "uv"
    shell.run([uv, "pip", "install", "--system-certs", "--quiet", "--link-mode", "copy", *place, *pinned])
    for script in (work / "bin").glob("*"):
        _name_python(script)
    work.rename(target)
    return target


def npm(package: str) -> Path:
    """Return the unpacked folder of an npm package at the version and hash of npm.lock.

    Raises ValueError when what came is not what is pinned.
    """
    version, pinned = _pinned(package)
    target = paths.cache() / "npm" / f"{package}-{version}-{paths.key([pinned])}"
    if target.exists():
        return target
    work = _emptied(target)
    if not shutil.which("npm"):
        raise FileNotFoundError(
            f"npm: not found on PATH, expected it there to fetch {package}; install Node.js"
        )
    shell.run(["npm", "pack", "--silent", "--pack-destination", work, f"{package}@{version}"])
    archive = next(work.glob("*.tgz"))
    found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != pinned:
        raise ValueError(f"npm package {package}@{version}: found {found}, expected {pinned} ({NPM.name})")
    with tarfile.open(archive) as tar:
        tar.extractall(work, filter="data")
    archive.unlink()
    work.rename(target)
    return target


def _pinned(package: str) -> tuple[str, str]:
    for line in NPM.read_text().splitlines():
        name, _, rest = line.partition("@")
        if name == package:
            version, digest = rest.split()
            return version, digest
    raise ValueError(f"{NPM.name}: found no line for {package}, expected '{package}@<version> sha512-<hash>'")


def _emptied(target: Path) -> Path:
    work = target.with_name(f"{target.name}.partial")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    return work


def _name_python(script: Path) -> None:
    """Let a script start with the image's Python in place of the one that installed it."""
    first, _, rest = script.read_bytes().partition(b"\n")
    if first.startswith(b"#!") and b"python" in first:
        script.write_bytes(b"#!/usr/bin/python3\n" + rest)
