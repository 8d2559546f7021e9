"""The local stack: env.sh and the Python side agree, and state goes with the cluster it tells of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.config.local import renamed
from local import paths, stack
from local.cluster import create


@pytest.mark.req("E1")
def test_env_sh_names_the_same_backend_kubeconfig_and_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNAI_KIT_CLUSTER", paths.CLUSTER)
    env = stack.environment()
    assert env["PULUMI_BACKEND_URL"] == f"file://{paths.PULUMI_STATE}"
    assert env["KUBECONFIG"] == str(paths.KUBECONFIG)
    assert env["PATH"].split(":")[:2] == [str(paths.BIN), str(paths.VENV / "bin")]
    assert Path(env["PULUMI_CONFIG_PASSPHRASE_FILE"]).exists()


@pytest.mark.req("E1", "I14")
@pytest.mark.parametrize("name", ["", "runai-kit", "other"])
def test_a_cluster_of_another_name_has_its_own_state_and_the_stack_follows(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """env.sh, the local side and the stack's settings name the same kubeconfig, backend and context."""
    monkeypatch.setenv("RUNAI_KIT_CLUSTER", name)
    env = stack.environment()
    program = "from local import paths; from local.cluster import create; print(paths.STATE, create.CONTEXT)"
    told = subprocess.run([sys.executable, "-c", program], cwd=paths.ROOT, capture_output=True, text=True)
    state, context = told.stdout.split()
    assert env["PULUMI_BACKEND_URL"] == f"file://{state}/pulumi"
    assert env["CONTAINERS_CONF"].startswith(state)
    assert env["KUBECONFIG"] == f"{state}/kubeconfig"
    config = yaml.safe_load((paths.ROOT / "stacks" / "Pulumi.local.yaml").read_text())["config"]
    cluster: Any = renamed({"cluster": config["runai-kit:cluster"]}, env)["cluster"]
    assert (str(paths.ROOT / cluster["kubeconfig"]), cluster["context"]) == (env["KUBECONFIG"], context)
    assert (state == str(paths.BUILD / "local")) is (name != "other")


@pytest.mark.req("E1", "I14")
def test_no_variable_moves_a_stack_to_another_cluster() -> None:
    values: dict[str, object] = {"cluster": {"kind": "vks", "context": "theirs"}}
    assert renamed(values, {"RUNAI_KIT_CLUSTER": "other"}) == values


@pytest.mark.req("E1", "I14")
def test_removing_the_cluster_removes_what_the_stack_knew_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(paths, "STATE", tmp_path)
    monkeypatch.setattr(paths, "KUBECONFIG", tmp_path / "kubeconfig")
    monkeypatch.setattr(paths, "PULUMI_STATE", tmp_path / "pulumi")
    monkeypatch.setattr("shutil.which", lambda name: None)
    (tmp_path / "pulumi").mkdir()
    (tmp_path / "pulumi" / "stack.json").touch()
    (tmp_path / "cluster").touch()
    create.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("E1")
def test_placing_a_tool_again_leaves_one_name(tmp_path: Path) -> None:
    source, name = tmp_path / "cache" / "kind", tmp_path / "bin" / "kind"
    source.parent.mkdir()
    source.write_text("one")
    for _ in range(2):
        paths.place(source, name)
    assert [path.name for path in name.parent.iterdir()] == ["kind"]
    source.unlink()
    source.write_text("two")
    paths.place(source, name)
    assert name.read_text() == "two"
