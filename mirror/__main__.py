"""`python -m mirror list --stack FILE`, `… copy LIST PREFIX`: exit 0 done, 1 not all, 2 nothing."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from components.catalog import load_catalog
from components.config.errors import SettingsError
from mirror.copy import Copier
from mirror.listing import Item, listing
from policy.render import RenderError, read_stack


def main(arguments: list[str]) -> int:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m mirror", description="Images and charts of a stack.")
    commands = parser.add_subparsers(dest="command", required=True)
    shown = commands.add_parser("list", help="one line per image and chart, or JSON")
    shown.add_argument("--stack", type=Path, required=True, help="a stack file")
    shown.add_argument("--charts", type=Path, default=Path("build/charts"), help="directory with chart files")
    shown.add_argument("--fetch", action="store_true", help="fetch charts that are not there")
    shown.add_argument("--json", action="store_true", help="what `copy` reads")
    shown.add_argument("--helm", default="helm")
    copied = commands.add_parser("copy", help="copy what a JSON list names below a prefix")
    copied.add_argument("list", type=Path, help="file of `list --json`")
    copied.add_argument("prefix", help="such as harbor.example.com/mirror")
    copied.add_argument("--source", default="", help="a prefix to read from instead of upstream's registries")
    copied.add_argument("--helm", default="helm")
    copied.add_argument("--skopeo", default="skopeo")
    options = parser.parse_args(arguments)
    programs = [options.helm] if options.command == "list" else [options.helm, options.skopeo]
    for name in programs:
        if shutil.which(name) is None:
            print(f"mirror: found no program {name}; expected it on PATH; install it", file=sys.stderr)
            return 2
    return _list(options) if options.command == "list" else _copy(options)


def _list(options: argparse.Namespace) -> int:
    helm = Path(str(shutil.which(options.helm)))
    try:
        settings = read_stack(options.stack)
        items = listing(settings, load_catalog(), options.charts, helm, options.fetch)
    except (RenderError, SettingsError) as error:
        print(f"mirror: {error}; nothing was listed", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps([asdict(item) for item in items], indent=2))
        return 0
    for item in items:
        version = f" {item.version}" if item.version else ""
        print(f"{item.kind:5} {item.reference}{version}  # {item.why}")
    return 0


def _copy(options: argparse.Namespace) -> int:
    try:
        items = [Item(**entry) for entry in json.loads(options.list.read_text(encoding="utf-8"))]
    except (OSError, TypeError, ValueError) as error:
        print(f"mirror: {options.list}: {error}; expected a file of `mirror list --json`", file=sys.stderr)
        return 2
    skopeo, helm = (Path(str(shutil.which(name))) for name in (options.skopeo, options.helm))
    failures = Copier(options.prefix, options.source, skopeo, helm).copy(items, print)
    for line in failures:
        print(f"mirror: {line}", file=sys.stderr)
    print(f"mirror: {len(items) - len(failures)} of {len(items)} are below {options.prefix}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
