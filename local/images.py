"""Images under their upstream names, built from compiled tools, Debian roots and pinned packages."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

from local import contents, engine, paths, rootfs, shell, tools

TABLE = paths.ROOT / "local" / "images" / "images.toml"
QUIET = ("--quiet", "--pull=never", "--layers=false", "--network=none")
# The groups of tools.toml that the images of a kind are made of.
KINDS: dict[str, list[str]] = {
    "node": ["kubernetes"],
    "platform": ["kubernetes", "prometheus", "kube-state-metrics"],
    "serving": ["knative", "versitygw"],
    "previous": ["knative-previous"],
    "own": ["fake-gpu"],
    "lab": [],
}


def table(kind: str) -> list[dict[str, Any]]:
    """Return the images of images.toml of one of the KINDS."""
    rows: list[dict[str, Any]] = tomllib.loads(TABLE.read_text())["image"]
    return [row for row in rows if row["kind"] == kind]


def roots(kind: str) -> list[str]:
    """Return the Debian roots that a kind's images are made of."""
    return sorted({row["base"] for row in table(kind) if "base" in row})


def archive(kind: str) -> Path:
    """Return the cached archive of all images of a kind, named by everything that goes into them."""
    inputs: list[Path | str] = [Path(__file__), repr(table(kind))]
    inputs += [tools.groups()[name].folder.name for name in KINDS[kind]]
    inputs += [rootfs.archive(root).name for root in roots(kind)]
    for source in sorted({source for row in table(kind) for source, _ in row.get("copy", ())}):
        inputs += contents.pins(source)
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


def _build_one(row: dict[str, Any], work: Path, env: dict[str, str]) -> str:
    context = work / row["name"].replace("/", "_").replace(":", "_")
    root = context / "root"
    root.mkdir(parents=True)
    for source, path in row.get("copy", ()):
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        _copy(contents.find(source), place)
    lines = [f"FROM {rootfs.image(row['base']) if 'base' in row else 'scratch'}"]
    lines += ["COPY root/ /"] if row.get("copy") else []
    variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"} | row.get("env", {})
    lines += [f'ENV {name}="{value}"' for name, value in variables.items()]
    lines += [f'ENTRYPOINT ["{row["entrypoint"]}"]'] if "entrypoint" in row else []
    lines += [f"USER {row['user']}"] if "user" in row else []
    (context / "Containerfile").write_text("\n".join(lines) + "\n")
    name = str(row["name"])
    shell.run(["podman", "build", *QUIET, "-t", name, context], env=env)
    shutil.rmtree(context)
    return name


def _copy(source: Path, place: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, place)
    else:
        shutil.copyfile(source, place)
        place.chmod(0o755)
