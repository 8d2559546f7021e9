"""The Pulumi stack `local`: its backend, its plugin, and bringing it up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from components import private
from local import paths, shell, tools

NAME = os.environ.get("RUNAI_KIT_STACK", "local")
PROVIDER = "4.25.0"


def environment() -> dict[str, str]:
    """Return the variables that env.sh sets, as it sets them."""
    script = f'set -a; . "{paths.ROOT}/local/env.sh"; env -0'
    text = subprocess.run(["bash", "-c", script], capture_output=True, check=True, text=True).stdout
    return dict(pair.split("=", 1) for pair in text.split("\0") if "=" in pair)


def prepare() -> dict[str, str]:
    """Install the provider plugin into the kit's own PULUMI_HOME; returns the stack's environment."""
    env = environment()
    paths.PULUMI_STATE.mkdir(parents=True, exist_ok=True)
    plugin = Path(env["PULUMI_HOME"]) / "plugins" / f"resource-kubernetes-v{PROVIDER}"
    binary = tools.groups()["provider"].folder / "pulumi-resource-kubernetes"
    if binary.exists():
        paths.link(binary, plugin / "pulumi-resource-kubernetes")
    return env


def known() -> bool:
    """Return whether the backend has a checkpoint of the stack, readable or not."""
    return any(paths.PULUMI_STATE.glob(f".pulumi/stacks/*/{NAME}.json"))


def up() -> None:
    """Bring the stack up without a question, after undoing what a killed run left."""
    with private.folder() as temporary:
        env = prepare() | {"TMPDIR": str(temporary)}
        if known():  # Before anything else: what a killed run left may keep the stack from being selected.
            shell.run([paths.VENV / "bin" / "python", "-m", "day2.healing", NAME], env=env, cwd=paths.ROOT)
        shell.run([_pulumi(), "stack", "select", "--create", NAME], env=env, cwd=paths.ROOT)
        shell.run(
            [_pulumi(), "up", "--stack", NAME, "--yes", "--skip-preview", "--non-interactive"],
            env=env,
            cwd=paths.ROOT,
        )


def _pulumi() -> str:
    return str(paths.BIN / "pulumi")
