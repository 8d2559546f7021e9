"""Starting what enforces NetworkPolicies: only where the network plugin does not, once a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local import enforcer, paths, shell
from local.cluster import create, enforce, load

pytestmark = pytest.mark.req("E1", "I1")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What is run against a cluster that answers with an id."""
    ran: list[str] = []
    monkeypatch.delenv("RUNAI_KIT_MIRROR", raising=False)
    monkeypatch.setattr(paths, "STATE", tmp_path)
    monkeypatch.setattr(enforcer, "archive", lambda: tmp_path / "enforcer.tar")
    monkeypatch.setattr(load, "everywhere", lambda archive: ran.append(f"load {archive.name}"))
    monkeypatch.setattr(create, "exists", lambda: True)
    monkeypatch.setattr(load, "cluster_id", lambda: "one")
    monkeypatch.setattr(shell, "run", lambda words: ran.append(" ".join(map(str, words))))
    return ran


def made(without_plugin: bool) -> None:
    text = json.dumps({"networking": {"disableDefaultCNI": without_plugin}})
    (paths.STATE / "kind.yaml").write_text(text)


def test_it_is_loaded_started_and_waited_for_once_a_cluster(
    commands: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made(without_plugin=True)
    assert not enforce.started()
    enforce.start()
    assert commands[0] == "load enforcer.tar"
    assert str(enforce.MANIFEST) in commands[1]
    assert "rollout status daemonset/kube-router" in commands[2]
    assert enforce.started()
    monkeypatch.setattr(load, "cluster_id", lambda: "another")
    assert not enforce.started()


def test_a_mirror_serves_its_image(commands: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    made(without_plugin=True)
    monkeypatch.setenv("RUNAI_KIT_MIRROR", "http://10.1.2.3:5000")
    enforce.start()
    assert not [command for command in commands if command.startswith("load")]


def test_a_cluster_with_kinds_own_plugin_is_left_alone(commands: list[str]) -> None:
    made(without_plugin=False)
    enforce.start()
    assert commands == []
    assert enforce.started()


def test_one_that_cannot_run_is_taken_away_and_told(
    commands: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made(without_plugin=True)
    run = shell.run

    def refuse(words: list[str]) -> None:
        run(words)
        if "rollout" in words:
            raise shell.CommandError("no pod became ready")

    monkeypatch.setattr(shell, "run", refuse)
    enforce.start()
    assert f"delete --filename {enforce.MANIFEST}" in commands[-1]
    assert not enforce.started()
    assert "not enforced in this cluster: no pod became ready" in capsys.readouterr().out
