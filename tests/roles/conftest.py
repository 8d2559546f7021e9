"""Plays with one role or task file, against no cluster at all."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
OUTPUTS = ROOT / "tests/unit/validation/data/outputs.json"
Json = dict[str, Any]


@dataclass(frozen=True)
class Played:
    """How a play ended, and what it recorded."""

    code: int
    text: str
    report: Path

    def checks(self) -> dict[str, Json]:
        return {
            path.name.removesuffix(".json"): json.loads(path.read_text())
            for path in (self.report / "checks").glob("*.json")
        }


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Played]:
    """Run a playbook, or a list of tasks, with an API server that refuses every connection."""
    kubeconfig = tmp_path / "kubeconfig"
    cluster = {"server": "https://127.0.0.1:1"}
    kubeconfig.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "u", "user": {}}],
                "contexts": [{"name": "kind-runai-kit", "context": {"cluster": "c", "user": "u"}}],
            }
        )
    )
    outputs = {**json.loads(OUTPUTS.read_text()), "kubeconfig": str(kubeconfig)}
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps(outputs))

    def run(what: str | list[Json], *arguments: str) -> Played:
        path = Path(what) if isinstance(what, str) else tmp_path / "play.yml"
        if not isinstance(what, str):
            path.write_text(yaml.safe_dump([{"hosts": "clusters", "gather_facts": False, "tasks": what}]))
        env = {
            **os.environ,
            "ANSIBLE_NOCOLOR": "1",
            "KIT_OUTPUTS_FILE": str(file),
            "KIT_REPORT_DIR": str(tmp_path / "report"),
        }
        done = subprocess.run(
            ["ansible-playbook", "-i", "inventory/local", str(path), *arguments],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return Played(done.returncode, done.stdout + done.stderr, tmp_path / "report")

    return run
