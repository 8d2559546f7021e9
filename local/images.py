"""Images under their upstream names, built from the compiled tools and Debian roots."""

from __future__ import annotations

import shutil
import threading
import tomllib
from pathlib import Path
from typing import Any

from local import engine, paths, rootfs, shell, tools

TABLE = paths.ROOT / "local" / "images" / "images.toml"
BASE = "localhost/runai-kit/debian"
_importing = threading.Lock()
KINDS = {"node": ["kubernetes"], "platform": ["kubernetes", "prometheus"], "own": ["fake-gpu"]}


def table(kind: str) -> list[dict[str, Any]]:
    """Return the images of images.toml of one of the KINDS."""
    rows: list[dict[str, Any]] = tomllib.loads(TABLE.read_text())["image"]
    return [row for row in rows if row["kind"] == kind]


def archive(kind: str) -> Path:
    """Return the cached archive of all images of a kind, named by everything that goes into them."""
    groups = KINDS[kind]
    parts = [tools.groups()[name].folder.name for name in groups]
    inputs: list[Path | str] = [
        Path(__file__),
        repr(table(kind)),
        *parts,
        rootfs.archive("debian").name,
    ]
    return paths.cache() / "images" / f"{kind}-{paths.key(inputs)}.tar"


def build(kind: str) -> None:
    """Build every image of a kind and save them into one archive that shares their layers."""
    target = archive(kind)
    target.parent.mkdir(parents=True, exist_ok=True)
    work = target.with_suffix(".work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    env = engine.environment()
    names = [_build_one(row, work, env) for row in table(kind)]
    partial = target.with_suffix(".partial.tar")
    partial.unlink(missing_ok=True)
    shell.run(["podman", "save", "--format", "docker-archive", "-m", "-o", partial, *names], env=env)
    shell.run(["podman", "rmi", "--force", *names], env=env)
    partial.rename(target)
    for older in target.parent.glob(f"{kind}-*.tar"):
        if older != target:
            older.unlink()
    shutil.rmtree(work)


def base() -> str:
    """Return the image of the Debian root, imported first where the engine does not have it."""
    env = engine.environment()
    name = f"{BASE}:{rootfs.archive('debian').stem}"
    with _importing:
        if not shell.succeeds(["podman", "image", "exists", name], env=env):
            shell.run(["podman", "import", rootfs.archive("debian"), name], env=env)
    return name


def _build_one(row: dict[str, Any], work: Path, env: dict[str, str]) -> str:
    context = work / row["name"].replace("/", "_").replace(":", "_")
    root = context / "root"
    root.mkdir(parents=True)
    for source, path in row.get("copy", ()):
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        _copy(_source(source), place)
    lines = [f"FROM {base() if row.get('base') == 'debian' else 'scratch'}"]
    lines += (
        ["COPY root/ /"]
        if row.get("copy")
        else ["ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    )
    lines += [f'ENTRYPOINT ["{row["entrypoint"]}"]'] if "entrypoint" in row else []
    lines += [f"USER {row['user']}"] if "user" in row else []
    (context / "Containerfile").write_text("\n".join(lines) + "\n")
    name = str(row["name"])
    shell.run(
        [
            "podman",
            "build",
            "--quiet",
            "--pull=never",
            "--layers=false",
            "--network=none",
            "-t",
            name,
            context,
        ],
        env=env,
    )
    return name


def _source(text: str) -> Path:
    if text.startswith("module:"):
        _, group, rest = text.split(":", 2)
        module, path = rest.split(":")
        return tools.groups()[group].module(module) / path
    group, path = text.split("/", 1)
    return tools.groups()[group].folder / path


def _copy(source: Path, place: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, place)
    else:
        shutil.copyfile(source, place)
        place.chmod(0o755)
