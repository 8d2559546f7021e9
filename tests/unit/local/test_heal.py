"""After a killed run: only a dead run's lock is taken back, and only a stuck release is freed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from local import heal, paths

pytestmark = pytest.mark.req("I14")


@pytest.fixture
def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def lock(folder: Path, pid: int, host: str = "") -> Path:
    file = folder / ".pulumi" / "locks" / "organization" / "runai-kit" / "local" / "one.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"pid": pid, "hostname": host or socket.gethostname()}))
    return file


class Cluster:
    """Answers the commands of heal() and keeps those that change something."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, pending: list[str], operations: list[Any]) -> None:
        self.changes: list[list[str]] = []
        self.pending, self.operations = pending, operations
        monkeypatch.setattr("local.shell.read", self.read)
        monkeypatch.setattr("local.shell.run", lambda words, **_: self.changes.append(list(words)))

    def read(self, words: list[str], **_: Any) -> str:
        if words[0] == "pulumi":
            return json.dumps({"deployment": {"pending_operations": self.operations}})
        status = next(word for word in words if "status=" in word).split("status=")[1]
        labels = {"name": "kai-scheduler"}
        found = [{"metadata": {"name": "s", "namespace": "n", "labels": labels}}] * (status in self.pending)
        return json.dumps({"items": found})

    def heal(self) -> list[list[str]]:
        heal.heal("local", ["pulumi"], ["kubectl"], {})
        return self.changes


def test_nothing_is_changed_after_a_run_that_ended_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(paths, "PULUMI_STATE", tmp_path)
    assert Cluster(monkeypatch, [], []).heal() == []


def test_a_dead_runs_lock_and_operations_go(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gone: int
) -> None:
    monkeypatch.setattr(paths, "PULUMI_STATE", tmp_path)
    lock(tmp_path, gone)
    changes = Cluster(monkeypatch, [], [{"type": "creating"}]).heal()
    assert [words[1] for words in changes] == ["cancel", "refresh"]
    assert "--clear-pending-creates" in changes[1]


@pytest.mark.parametrize("status", heal.PENDING)
def test_a_release_between_two_states_is_freed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: str
) -> None:
    monkeypatch.setattr(paths, "PULUMI_STATE", tmp_path)
    changes = Cluster(monkeypatch, [status], []).heal()
    assert changes == [["kubectl", "delete", "secret", "s", "--namespace", "n"]]


@pytest.mark.parametrize(
    ("pid", "host"), [(os.getpid(), ""), (1, "another-machine")], ids=["alive", "elsewhere"]
)
def test_a_lock_that_may_be_alive_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pid: int, host: str
) -> None:
    monkeypatch.setattr(paths, "PULUMI_STATE", tmp_path)
    lock(tmp_path, pid, host)
    cluster = Cluster(monkeypatch, ["pending-install"], [{"type": "creating"}])
    with pytest.raises(heal.StackInUseError, match=rf"stack local: locked by process {pid} on"):
        cluster.heal()
    assert cluster.changes == []
