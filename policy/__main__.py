"""`python -m policy build/charts [--stack FILE] [--helm PROGRAM]`: exit 0 kept, 1 broken, 2 not checked."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from components.catalog import load_catalog
from components.config.errors import SettingsError
from policy.render import RenderError, named_images, read_stack, sources
from policy.rules import chart_images, check, config_in_step


def main(arguments: list[str]) -> int:
    """Check every chart of a stack; print a line per source and per violation."""
    parser = argparse.ArgumentParser(prog="python -m policy", description="Rules on rendered objects.")
    parser.add_argument("charts", type=Path, help="directory with chart files")
    parser.add_argument("--stack", type=Path, default=Path("stacks/Pulumi.local.yaml"))
    parser.add_argument("--helm", default="helm", help="helm program, found on PATH by default")
    options = parser.parse_args(arguments)
    helm = shutil.which(options.helm)
    if helm is None:
        print(f"policy: no program {options.helm}; nothing was checked", file=sys.stderr)
        return 2
    catalog, broken = load_catalog(), 0
    try:
        settings = read_stack(options.stack)
        prefix, chosen = settings.registry.prefix, named_images(settings, catalog)
        for source in sources(settings, catalog, options.charts, Path(helm)):
            own = frozenset() if source.listed else chart_images(source.objects, prefix)
            violations = check(source.objects, source.levels, catalog, prefix, chosen | own)
            violations += config_in_step(source.objects, source.config)
            broken += len(violations)
            print(f"policy: {source.name}: {len(source.objects)} objects, {len(violations)} violations")
            for violation in violations:
                print(f"  {violation}")
    except (RenderError, SettingsError) as error:
        print(f"policy: {error}", file=sys.stderr)
        return 2
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
