"""What needs no cluster: versions, the stack's settings and outputs, rendered values, the last report."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import yaml

from components.catalog import load_catalog
from day2.bundle.piece import Piece
from policy.render import chart_values_by_part, read_stack
from validation.outputs import from_file, from_stack

Json = dict[str, Any]
SECONDS = 30
TOOLS = {
    "pulumi": ["pulumi", "version"],
    "kubectl": ["kubectl", "version", "--client"],
    "helm": ["helm", "version", "--short"],
    "kind": ["kind", "version"],
    "ansible": ["ansible", "--version"],
    "git": ["git", "log", "-1", "--format=%H %cI"],
    "changes": ["git", "status", "--short"],
}
REPORT = ("report.json", "run.json", "junit.xml")


def outputs(environment: str, root: Path, file: str) -> Json:
    """The stack's outputs, secrets masked: of the stack, or of a file saved earlier. Raises OutputsError."""
    return from_file(Path(file)) if file else from_stack(environment, root, timeout=SECONDS)


def pieces(environment: str, root: Path, report: Path) -> Iterator[Piece]:
    """Everything that needs no cluster."""
    yield Piece("kit/versions.json", "tools, Python packages, parts of the catalog", lambda: _versions(root))
    stack = root / "stacks" / f"Pulumi.{environment}.yaml"
    yield Piece(
        "kit/settings.yaml", "the stack file; encrypted values are left out", lambda: _settings(stack)
    )
    yield Piece("kit/values.json", "what the charts are given", lambda: _values(stack))
    yield Piece("kit/catalog.yaml", "the catalog", (root / "components" / "catalog.yaml").read_text)
    for name in REPORT:
        yield Piece(f"report/{name}", "the last validation", (report / name).read_text)
    yield Piece(
        "report/preflight.json", "preflight's checks of the last validation", lambda: _preflight(report)
    )


def _versions(root: Path) -> str:
    found: Json = {"python": platform.python_version(), "system": platform.platform()}
    found["tools"] = {name: _tool(command, root) for name, command in TOOLS.items()}
    found["parts"] = {key: part.version for key, part in load_catalog().parts.items()}
    found["packages"] = dict(sorted((d.name, d.version) for d in distributions()))
    return json.dumps(found, indent=1) + "\n"


def _tool(command: list[str], root: Path) -> str:
    if shutil.which(command[0]) is None:
        return "not on PATH"
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS} s"
    return (done.stdout or done.stderr).strip()


def _settings(stack: Path) -> str:
    text: Json = yaml.safe_load(stack.read_text(encoding="utf-8"))
    return yaml.safe_dump(_without_secure(text), sort_keys=False)


def _without_secure(node: Any) -> Any:
    if isinstance(node, dict):
        if set(node) == {"secure"}:
            return "[encrypted]"
        return {k: _without_secure(v) for k, v in node.items() if k != "encryptionsalt"}
    return [_without_secure(item) for item in node] if isinstance(node, list) else node


def _values(stack: Path) -> str:
    return json.dumps(chart_values_by_part(read_stack(stack), load_catalog()), indent=1, default=str) + "\n"


def _preflight(report: Path) -> str:
    checks = json.loads((report / "report.json").read_text())["checks"]
    return json.dumps([c for c in checks if c["id"].startswith("preflight.")], indent=1) + "\n"
