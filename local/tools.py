"""Compiling the pinned tools of tools/tools.toml into the cache, and linking them into build/bin."""

from __future__ import annotations

import os
import shutil
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from local import paths, shell

TOOLS = paths.ROOT / "local" / "tools"
ON_PATH = (
    *("pulumi", "kind", "kubectl", "helm"),
    *("pulumi-language-python", "pulumi-language-python-exec"),
    *("pulumi-resource-pulumi-python", "promtool"),
)


@dataclass(frozen=True)
class Group:
    """One go.mod and what is compiled from it; `spec` is its table in tools.toml."""

    name: str
    spec: dict[str, Any]

    @property
    def source(self) -> Path:
        return (TOOLS / str(self.spec.get("directory", self.name))).resolve()

    @property
    def toolchain(self) -> str:
        return str(self.spec.get("toolchain", "local"))

    @cached_property
    def folder(self) -> Path:
        """The cache entry, named by the lock files, the sources and the recipe as they were at the start."""
        recipe = {name: value for name, value in self.spec.items() if name not in ("cold", "after", "found")}
        inputs: list[Path | str] = [self.source / "go.mod", self.source / "go.sum", repr(recipe)]
        inputs += sorted(path for path in self.source.rglob("*.go") if not path.name.endswith("_test.go"))
        return paths.cache() / "tools" / f"{self.name}-{paths.key(inputs)}"

    def built(self) -> bool:
        """Return whether the compiled tools of the same inputs are in the cache."""
        return (self.folder / "complete").exists()

    def found(self) -> bool:
        """Return whether the tools on PATH have the pinned version already."""
        found = self.spec.get("found")
        if not found or not all(_elsewhere(name) for name in found["tools"]):
            return False
        try:
            return found["version"] in shell.read(found["command"])
        except shell.CommandError:
            return False

    def build(self) -> None:
        """Compile into a folder beside the entry and rename it when whole, so that a kill leaves no half."""
        if os.environ.get("RUNAI_KIT_NO_BUILD"):
            raise RuntimeError(
                f"tools {self.name}: not found in the pinned version and building is forbidden "
                "(RUNAI_KIT_NO_BUILD); put them on PATH or unset it"
            )
        work = self.folder.with_suffix(".partial")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        self._prepare()
        for step in self.spec["build"]:
            self._compile(step, work)
        for step in self.spec.get("copy", ()):
            for name in step["files"]:
                target = work / Path(name).name
                shutil.copyfile(self.module(step["module"]) / name, target)
                target.chmod(0o755)
        (work / "complete").touch()
        shutil.rmtree(self.folder, ignore_errors=True)
        work.rename(self.folder)

    def module(self, path: str) -> Path:
        """Return the folder of a module of this go.mod, fetching it first."""
        self._go("mod", "download", path)
        return Path(
            shell.read(["go", "list", "-m", "-f", "{{.Dir}}", path], env=self._env(), cwd=self.source)
        )

    def _prepare(self) -> None:
        for name in self.spec.get("prepare", ()):
            original = self.module(self.spec["prepare_from"]) / self.spec["prepare_path"] / name
            (self.source / name).unlink(missing_ok=True)
            shutil.copyfile(original, self.source / name)

    def _compile(self, step: dict[str, Any], work: Path) -> None:
        target = work / step.get("into", "")
        target.mkdir(parents=True, exist_ok=True)
        output = target / step["output"] if "output" in step else f"{target}/"
        flags = ["-trimpath", "-ldflags", step.get("ldflags", "-s -w")]
        if "tags" in step:
            flags += ["-tags", step["tags"]]
        if "gcflags" in step:
            flags += ["-gcflags", step["gcflags"]]
        self._go("build", *flags, "-o", str(output), *step["packages"])
        for old, new in step.get("rename", {}).items():
            (target / old).rename(target / new)

    def _go(self, *words: str) -> None:
        shell.run(["go", *words], env=self._env(), cwd=self.source)

    def _env(self) -> dict[str, str]:
        # GOGC trades memory, of which there is enough, for fewer collections by the compiler.
        return {
            "GOTOOLCHAIN": self.toolchain,
            "CGO_ENABLED": "0",
            "GOGC": "400",
            "GOFLAGS": "-buildvcs=false",
        }


@cache
def groups() -> dict[str, Group]:
    """Return the groups of tools.toml by name."""
    table = tomllib.loads((TOOLS / "tools.toml").read_text())
    return {name: Group(name, spec) for name, spec in table.items()}


def _elsewhere(name: str) -> str | None:
    """Find a tool on PATH outside build/bin, whose links are our own."""
    folders = [
        part for part in os.environ.get("PATH", "").split(os.pathsep) if part and Path(part) != paths.BIN
    ]
    return shutil.which(name, path=os.pathsep.join(folders))


def place_all() -> None:
    """Put the tools that people and the kit call into build/bin; the rest stay in the cache.

    Pulumi looks for its language host beside its own file, so these are no symbolic links.
    """
    for group in groups().values():
        for name in ON_PATH:
            if (group.folder / name).exists():
                paths.place(group.folder / name, paths.BIN / name)
            elif group.found() and name in group.spec["found"]["tools"]:
                paths.place(Path(str(_elsewhere(name))), paths.BIN / name)
