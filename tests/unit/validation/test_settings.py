"""Stack outputs: typed, with errors that name the output."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from validation.outputs import from_file, from_stack, resolved
from validation.settings import OutputsError, load

DATA = Path(__file__).parent / "data/outputs.json"
OUTPUTS: dict[str, Any] = json.loads(DATA.read_text())
pytestmark = pytest.mark.req("V1")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("context", ""),
        ("profile", "other"),
        ("driver", "slurm"),
        ("gpuSharing", "perhaps"),
        ("departments", [{"name": "x"}]),
        ("images", None),
        ("validation", {"sleepSeconds": 0}),
    ],
)
def test_a_wrong_output_is_named(key: str, value: Any) -> None:
    with pytest.raises(OutputsError, match=key):
        load({**OUTPUTS, key: value})


@pytest.mark.parametrize(
    "key", ["environment", "context", "profile", "departments", "projects", "namespaces"]
)
def test_a_missing_output_is_named(key: str) -> None:
    with pytest.raises(OutputsError, match=f"{key}.*pulumi up"):
        load({k: v for k, v in OUTPUTS.items() if k != key})


def test_files_that_are_no_outputs(tmp_path: Path) -> None:
    with pytest.raises(OutputsError, match="does not exist"):
        from_file(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(OutputsError, match="is no JSON"):
        from_file(tmp_path / "bad.json")
    (tmp_path / "empty.json").write_text("{}")
    with pytest.raises(OutputsError, match="has no outputs"):
        from_file(tmp_path / "empty.json")


def test_a_relative_kubeconfig_is_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "kc").write_text("")
    assert resolved({**OUTPUTS, "kubeconfig": "kc"}, tmp_path)["kubeconfig"] == str(tmp_path / "kc")
    with pytest.raises(OutputsError, match="is the cluster up"):
        resolved({**OUTPUTS, "kubeconfig": "gone"}, tmp_path)


def _pulumi(folder: Path, script: str) -> str:
    path = folder / "pulumi"
    path.write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)
    return str(path)


def test_the_stack_is_asked_without_secrets(tmp_path: Path) -> None:
    tool = _pulumi(tmp_path, 'printf \'{"said": "%s"}\' "$*"')
    assert from_stack("local", tmp_path, tool)["said"] == (
        "stack output --json --stack local --non-interactive"
    )


def test_a_stack_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(OutputsError, match=r"no stack named.*pulumi up --stack local"):
        from_stack("local", tmp_path, _pulumi(tmp_path, "echo no stack named >&2; exit 255"))
    with pytest.raises(OutputsError, match="not on PATH"):
        from_stack("local", tmp_path, str(tmp_path / "missing"))
    with pytest.raises(OutputsError, match="no answer"):
        from_stack("local", tmp_path, _pulumi(tmp_path, "exec sleep 5"), timeout=0.2)
