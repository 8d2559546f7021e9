"""A destroy begins only where nobody else is at work on the stack; until it knows, nothing is deleted."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import cast

import pytest

from day2.destroy import __main__ as command
from day2.destroy import engine, lock
from day2.state import Declared, Stack
from tests.unit.day2.cluster import FakeCluster, obj
from tests.unit.day2.healing.test_locks import NO_KEY, SOMETHING, message
from tests.unit.day2.healing.told import pulumi
from validation.cluster import Cluster

pytestmark = pytest.mark.req("I14")
PROJECT = obj("v1", "Namespace", "runai-a", metadata={"labels": {"runai-kit.io/project": "a"}})
STACK = Stack("local", "context", "", (Declared(PROJECT, False, False),), ())


@pytest.fixture(autouse=True)
def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own temp folder stays."""
    monkeypatch.setattr("components.private.use", lambda: Path())


def test_a_free_stack_may_be_destroyed(tmp_path: Path) -> None:
    assert lock.refusal(pulumi(tmp_path, SOMETHING)) == ""


def test_somebody_who_is_at_work_is_named_with_since_when(tmp_path: Path) -> None:
    why = lock.refusal(pulumi(tmp_path, SOMETHING, message(7, "another-machine")))
    assert "locked by process 7 of root on another-machine since 2026-11-30 22:23:23" in why
    assert "wait for it" in why


def test_after_a_killed_run_heal_comes_first(tmp_path: Path) -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    why = lock.refusal(pulumi(tmp_path, SOMETHING, message(process.pid, socket.gethostname())))
    assert f"process {process.pid} of root" in why
    assert "run `make heal ENV=local` first" in why


def test_a_lock_that_cannot_be_asked_for_is_not_free(tmp_path: Path) -> None:
    assert "incorrect passphrase" in lock.refusal(pulumi(tmp_path, SOMETHING, NO_KEY))


@pytest.mark.parametrize("why", ["", "locked by somebody"])
def test_nothing_is_deleted_before_the_lock_is_known_to_be_free(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], why: str
) -> None:
    cluster = FakeCluster(PROJECT, obj("v1", "Pod", "theirs", "runai-a"))
    deleted: list[int] = []

    def asked(_: object) -> str:
        deleted.append(len(cluster.deleted))
        return why

    def gone(*_: object) -> int:
        cluster.objects.clear()
        return 0

    monkeypatch.setattr(command, "read", lambda *_: STACK)
    monkeypatch.setattr(command, "reach", lambda _: cast(Cluster, cluster))
    monkeypatch.setattr(lock, "refusal", asked)
    monkeypatch.setattr(engine, "destroy", gone)
    monkeypatch.setattr("time.sleep", lambda _: None)
    assert command.main(["local", "--workloads", "--yes"]) == (1 if why else 0)
    assert deleted == [0]
    if why:
        assert cluster.deleted == []
        assert "locked by somebody\nNothing was changed." in capsys.readouterr().err
