"""`python -m installer --stack FILE`: prints the installer's config.yaml; exit 0 done, 2 not possible."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml

from components.config.errors import SettingsError
from installer.config import ASSUMED, InstallerError, config
from policy.render import read_stack


def main(arguments: list[str]) -> int:
    """Read the stack file and print the other one."""
    parser = argparse.ArgumentParser(prog="python -m installer", description=__doc__)
    parser.add_argument("--stack", type=Path, required=True, help="a stack file of profile full")
    options = parser.parse_args(arguments)
    try:
        content = config(read_stack(options.stack))
    except (InstallerError, SettingsError) as error:
        print(f"installer: {error}", file=sys.stderr)
        return 2
    print(f"# From {options.stack.name}: runai-installer --config <this file>")
    print("# Paths below secrets/ are yours to write: the stack's own secrets are never printed.")
    print(f"# Compare the keys below {', '.join(ASSUMED)} with the installer's reference: not verified.")
    print(yaml.safe_dump(content, sort_keys=False), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
