"""What images are filled with: compiled tools, files of modules, pinned packages, things made by a script.

A source in images.toml is one of
  <group>/<file>                      a compiled tool
  module:<group>:<module>:<path>      a file or folder of a Go module
  wheel:<set>:<path>                  a file of the wheels of local/wheels/<set>.lock
  python:<set>                        all of them, with bytecode for the root `lab`
  npm:<package>:<path>                a file or folder of an npm package
  made:<script>                       what local/lab/<script>.py writes
"""

from __future__ import annotations

import shutil
from pathlib import Path

from local import downloads, engine, paths, rootfs, shell, tools

LAB = paths.ROOT / "local" / "lab"
MAKER = "kind.local/openai-cpu:0.1.0"  # its PyTorch and transformers make what it later serves


def find(source: str) -> Path:
    """Return the file or folder of a source, made first where it is not cached."""
    origin, _, rest = source.partition(":")
    name, _, path = rest.partition(":")
    if origin == "module":
        module, path = path.split(":")
        return tools.groups()[name].module(module) / path
    if origin == "python":
        return _python(name)
    if origin == "wheel":
        return downloads.wheels(name) / path
    if origin == "npm":
        return downloads.npm(name) / path
    if origin == "made":
        return _made(name)
    group, path = source.split("/", 1)
    return tools.groups()[group].folder / path


def pins(source: str) -> list[Path | str]:
    """Return what decides the content of a source that comes from no group of tools."""
    origin, _, rest = source.partition(":")
    name = rest.split(":")[0]
    found: dict[str, list[Path | str]] = {
        "python": [downloads.lock(name), Path(downloads.__file__)],
        "wheel": [downloads.lock(name), Path(downloads.__file__)],
        "npm": [downloads.NPM],
        "made": [LAB / f"{name}.py"],
    }
    return found.get(origin, [])


def _python(name: str) -> Path:
    """Return a set of wheels with bytecode for the lab's Python, which read-only containers cannot write."""
    key = paths.key([*pins(f"python:{name}"), rootfs.archive("lab").name])
    target = paths.cache() / "wheels" / f"{name}-compiled-{key}"
    if not target.exists():
        work = downloads.wheels(name).replace(_emptied(target))
        compiling = ["-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
        _run(rootfs.image("lab"), [*compiling, "/opt/python"], [f"{work}:/opt/python"])
        work.rename(target)
    return target


def _made(name: str) -> Path:
    script = LAB / f"{name}.py"
    key = paths.key([script, *pins("python:openai"), rootfs.archive("lab").name])
    target = paths.cache() / "made" / f"{name}-{key}"
    if not target.exists():
        work = _emptied(target)
        _run(MAKER, ["/make.py", "/made"], [f"{script}:/make.py:ro", f"{work}:/made"])
        work.rename(target)
    return target


def _emptied(target: Path) -> Path:
    work = target.with_name(f"{target.name}.partial")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    return work


def _run(image: str, words: list[str], volumes: list[str]) -> None:
    """Run Python as root in a container without a network; what it makes lies in a volume."""
    mounts = [word for volume in volumes for word in ("--volume", volume)]
    start = ["podman", "run", "--rm", "--network=none", "--user=0", "--entrypoint=python3", *mounts]
    shell.run([*start, image, *words], env=engine.environment())
