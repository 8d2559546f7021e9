"""Where the local environment keeps things: the cache outside the checkout, the rest in build/."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
BIN = BUILD / "bin"
VENV = BUILD / "venv"
CHARTS = BUILD / "charts"
REPORT = BUILD / "report"

DEFAULT_CLUSTER = "runai-kit"
CLUSTER = os.environ.get("RUNAI_KIT_CLUSTER") or DEFAULT_CLUSTER
# A cluster of another name has a state of its own, so that two of them can run side by side; env.sh and
# components/config/local.py say the same.
STATE = BUILD / ("local" if CLUSTER == DEFAULT_CLUSTER else f"local-{CLUSTER}")
LOGS = STATE / "logs"
KUBECONFIG = STATE / "kubeconfig"
PULUMI_STATE = STATE / "pulumi"


def cache() -> Path:
    """Return the cache folder: RUNAI_KIT_CACHE, else `runai-kit` in the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "runai-kit"
    return Path(os.environ.get("RUNAI_KIT_CACHE", default))


def key(inputs: Iterable[Path | str]) -> str:
    """Return 16 hex digits that change when a file (its content) or a string of `inputs` does.

    Folders count with all files below them; a missing file raises FileNotFoundError.
    """
    digest = hashlib.sha256()
    for item in inputs:
        if isinstance(item, str):
            digest.update(item.encode())
            continue
        files = sorted(path for path in item.rglob("*") if path.is_file()) if item.is_dir() else [item]
        for path in files:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def place(source: Path, name: Path) -> None:
    """Make `name` the same file as `source`: a hard link, or a copy where that is another file system."""
    if name.exists() and name.samefile(source):
        return  # renaming one link over another of the same file would leave both
    name.parent.mkdir(parents=True, exist_ok=True)
    fresh = name.with_name(f".{name.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        os.link(source.resolve(), fresh)
    except OSError:
        shutil.copy2(source, fresh)
    fresh.replace(name)


def link(target: Path, name: Path) -> None:
    """Make `name` a symbolic link to `target`, replacing what was there, without a gap."""
    name.parent.mkdir(parents=True, exist_ok=True)
    fresh = name.with_name(f".{name.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(name)
