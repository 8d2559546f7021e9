"""Images that tests alone need, on a root that Debian did not set up: no images of images.toml."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from local import engine, images, paths, rootfs, shell


def archive(kind: str, root: str, *inputs: Path | str) -> Path:
    """Return the cached archive of a kind, named by everything that goes into it."""
    key = paths.key([Path(__file__), *inputs, rootfs.archive(root).name])
    return paths.cache() / "images" / f"{kind}-{key}.tar"


def build(image: str, kind: str, target: Path, fill: Callable[[Path], None]) -> None:
    """Build an image from the context that `fill` makes in an empty folder, and save it as `target`."""
    env = engine.environment()
    target.parent.mkdir(parents=True, exist_ok=True)
    work = target.with_suffix(".work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    fill(work)
    shell.run(["podman", "build", *images.QUIET, "-t", image, work], env=env)
    partial = target.with_suffix(".partial.tar")
    partial.unlink(missing_ok=True)
    shell.run(["podman", "save", "--format", "docker-archive", "-o", partial, image], env=env)
    shell.run(["podman", "rmi", "--force", image], env=env)
    partial.rename(target)
    for older in target.parent.glob(f"{kind}-*.tar"):
        if older != target:
            older.unlink()
    shutil.rmtree(work)
