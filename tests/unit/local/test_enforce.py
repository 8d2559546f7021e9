"""Starting what enforces NetworkPolicies: only where the network plugin does not, and never by half."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local import enforcer, paths, shell
from local.cluster import enforce, load

pytestmark = pytest.mark.req("E1", "I1")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What is run against the cluster."""
    ran: list[str] = []
    monkeypatch.setattr(paths, "STATE", tmp_path)
    monkeypatch.setattr(enforcer, "archive", lambda: tmp_path / "enforcer.tar")
    monkeypatch.setattr(load, "everywhere", lambda archive: ran.append(f"load {archive.name}"))
    monkeypatch.setattr(shell, "run", lambda words: ran.append(" ".join(map(str, words))))
    return ran


def made(without_plugin: bool) -> None:
    text = json.dumps({"networking": {"disableDefaultCNI": without_plugin}})
    (paths.STATE / "kind.yaml").write_text(text)


def test_it_is_loaded_started_and_waited_for(commands: list[str]) -> None:
    made(without_plugin=True)
    enforce.start()
    assert commands[0] == "load enforcer.tar"
    assert commands[1].endswith(f"--filename {enforce.MANIFEST}")
    assert "rollout status daemonset/kube-router" in commands[2]
    assert len(commands) == 3


def test_a_cluster_with_kinds_own_plugin_is_left_alone(commands: list[str]) -> None:
    made(without_plugin=False)
    enforce.start()
    assert commands == []


def test_one_that_cannot_run_is_taken_away(commands: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    made(without_plugin=True)
    run = shell.run

    def refuse(words: list[str]) -> None:
        run(words)
        if "rollout" in words:
            raise shell.CommandError("no pod became ready")

    monkeypatch.setattr(shell, "run", refuse)
    with pytest.raises(shell.CommandError, match="no pod became ready"):
        enforce.start()
    assert " delete " in commands[-1]
    assert commands[-1].endswith(f"--filename {enforce.MANIFEST}")
