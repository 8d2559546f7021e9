"""Charts and bundles that the stacks read from build/charts."""

from __future__ import annotations

import shutil
from pathlib import Path

from local import bundles, paths, shell, tools

KAI = "0.12.0"
OPERATOR = "0.85.0"


def cached() -> Path:
    """Return the cache entry that build/charts links to."""
    groups = ["kubernetes", *(bundle.group for bundle in bundles.BUNDLES)]
    folders = [tools.groups()[name].folder.name for name in groups]
    key = paths.key([Path(__file__), Path(bundles.__file__), *folders])
    return paths.cache() / "charts" / f"charts-{key}"


def ready() -> bool:
    """Return whether build/charts is the entry of today's inputs."""
    return paths.CHARTS.is_symlink() and paths.CHARTS.resolve() == cached() and cached().exists()


def make() -> None:
    """Package KAI's chart under its version (in the module it says 0.0.0) and write the bundles."""
    if not cached().exists():
        work = cached().with_suffix(".partial")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        group = tools.groups()["kubernetes"]
        chart = group.module("github.com/NVIDIA/KAI-scheduler") / "deployments" / "kai-scheduler"
        copy = work / "kai-scheduler"
        shutil.copytree(chart, copy)
        for path in [copy, *copy.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        version = ["--version", KAI, "--app-version", f"v{KAI}"]
        shell.run([paths.BIN / "helm", "package", copy, *version, "--destination", work])
        shutil.rmtree(copy)
        bundle = work / f"prometheus-operator-{OPERATOR}" / "bundle.yaml"
        bundle.parent.mkdir()
        shutil.copyfile(
            group.module("github.com/prometheus-operator/prometheus-operator") / "bundle.yaml", bundle
        )
        bundles.write(work)
        work.rename(cached())
    paths.link(cached(), paths.CHARTS)
