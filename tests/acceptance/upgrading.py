"""`pulumi up` of the local stack with some of its settings changed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.acceptance.conftest import ROOT

STACK = ROOT / "stacks" / "Pulumi.local.yaml"
UP = ("pulumi", "up", "--stack", "local", "--yes", "--skip-preview", "--non-interactive")


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
    command = [*UP, "--config-file", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return file
