"""`pulumi up` of the local stack with some of its settings changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.acceptance.commands import YES, pulumi
from tests.acceptance.conftest import ROOT

STACK = ROOT / "stacks" / "Pulumi.local.yaml"


def settings_file(folder: Path, **changes: dict[str, Any]) -> Path:
    """A stack file with these sections changed."""
    settings = yaml.safe_load(STACK.read_text())
    for section, values in changes.items():
        key = f"runai-kit:{section}"
        settings["config"][key] = {**settings["config"].get(key, {}), **values}
    file = folder / "Pulumi.local.yaml"
    file.write_text(yaml.safe_dump(settings))
    return file


def up(folder: Path, **changes: dict[str, Any]) -> Path:
    """Bring the stack up with these sections changed; returns the stack file that was used."""
    file = settings_file(folder, **changes)
    pulumi("up", *YES, "--config-file", str(file)).well()
    return file
