"""Stack outputs: from the Pulumi CLI or from a file that it wrote earlier."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from validation.settings import OutputsError, StackOutputs, load

Json = dict[str, Any]


def from_stack(stack: str, project: Path, pulumi: str = "pulumi", timeout: float = 60) -> Json:
    """`pulumi stack output --json` of a stack, secrets left masked. OutputsError says what to run."""
    command = [pulumi, "stack", "output", "--json", "--stack", stack, "--non-interactive"]
    try:
        done = subprocess.run(
            command, cwd=project, capture_output=True, text=True, timeout=timeout, check=False
        )
    except FileNotFoundError:
        raise OutputsError(
            f"{pulumi} is not on PATH: `source local/env.sh`, or name an outputs file"
        ) from None
    except subprocess.TimeoutExpired:
        raise OutputsError(f"{' '.join(command)} gave no answer within {timeout:g} s") from None
    if done.returncode:
        raise OutputsError(
            f"{' '.join(command)} failed: {done.stderr.strip()}; did `pulumi up --stack {stack}` run?"
        )
    return _parse(done.stdout, f"output of stack {stack}")


def of_inventory(folder: Path, project: Path) -> StackOutputs:
    """Outputs of the stack that an inventory of this kit names, or of the file in KIT_OUTPUTS_FILE."""
    file = folder / "kit_stack.yml"
    try:
        stack = str(yaml.safe_load(file.read_text())["stack"])
    except (OSError, KeyError, TypeError, yaml.YAMLError) as error:
        raise OutputsError(f"{file} does not name a stack: {error}") from None
    saved = os.environ.get("KIT_OUTPUTS_FILE")
    raw = from_file(project / saved) if saved else from_stack(stack, project)
    return load(resolved(raw, project))


def from_file(path: Path) -> Json:
    """Outputs saved by `pulumi stack output --json > file`."""
    try:
        return _parse(path.read_text(), str(path))
    except FileNotFoundError:
        raise OutputsError(
            f"outputs file {path} does not exist: `pulumi stack output --json > {path}`"
        ) from None


def _parse(text: str, where: str) -> Json:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise OutputsError(f"{where} is no JSON: {error}") from None
    if not isinstance(data, dict) or not data:
        raise OutputsError(f"{where} has no outputs: run `pulumi up` to its end")
    return data


def resolved(outputs: Json, project: Path) -> Json:
    """Outputs as validation uses them: checked, defaults filled in, a relative kubeconfig made absolute."""
    typed = load(outputs)
    plain = typed.model_dump()
    if typed.kubeconfig:
        path = project / Path(typed.kubeconfig).expanduser()
        if not path.is_file():
            raise OutputsError(f"kubeconfig {typed.kubeconfig} (stack output) is no file: is the cluster up?")
        plain["kubeconfig"] = str(path)
    return plain
