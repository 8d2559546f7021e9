"""Whose lock it is: only that of a process of this machine which has ended is taken back."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from day2.healing import locks
from day2.healing.command import HealError
from day2.healing.locks import Owner
from tests.unit.day2.healing.told import RELEASE, Json, operation, pulumi

pytestmark = pytest.mark.req("I14")
NOW = datetime.now(UTC)


def message(pid: int, host: str = "vm", since: str = "2026-11-30T22:23:23Z") -> str:
    """What Pulumi 3.276 says to who comes second."""
    return (
        "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or "
        f"delete the lock file with `pulumi cancel`.\n  s3://bucket/.pulumi/locks/one.json: created by "
        f"root@{host} (pid {pid}) at {since}"
    )


@pytest.fixture
def ended() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@pytest.fixture
def named_pulumi(tmp_path: Path) -> Iterator[int]:
    """The number of a living process that is called pulumi."""
    program = tmp_path / "pulumi"
    shutil.copy2(shutil.which("sleep") or "", program)
    process = subprocess.Popen([program, "60"])
    yield process.pid
    process.kill()
    process.wait()


def test_a_free_stack_has_no_owner(tmp_path: Path) -> None:
    assert locks.owners(pulumi(tmp_path), "runai-kit") == []


def test_the_owner_is_read_from_what_pulumi_says(tmp_path: Path) -> None:
    (owner,) = locks.owners(pulumi(tmp_path, locked=message(31678)), "runai-kit")
    assert owner == Owner("root", "vm", 31678, datetime(2026, 11, 30, 22, 23, 23, tzinfo=UTC))


def test_a_service_that_names_nobody_is_not_guessed_about(tmp_path: Path) -> None:
    told = pulumi(tmp_path, locked="error: [409] Conflict: Another update is currently in progress.")
    with pytest.raises(HealError, match=r"does not say whose.*pulumi cancel --stack local"):
        locks.owners(told, "runai-kit")


NO_KEY = "error: getting stack configuration: get stack secrets manager: incorrect passphrase"
NO_ROOT = "error: no resource named 'urn:pulumi:local::runai-kit::pulumi:pulumi:Stack::runai-kit-local' found"
SOMETHING = {"resources": [operation(RELEASE, "kai-scheduler")["resource"]]}


def test_a_question_that_fails_is_no_free_lock(tmp_path: Path) -> None:
    """A missing passphrase, say: nobody knows then who is at work."""
    told = pulumi(tmp_path, SOMETHING, locked=NO_KEY)
    with pytest.raises(HealError, match=r"stack local: who holds its lock cannot be asked[^$]*passphrase"):
        locks.owners(told, "runai-kit")


@pytest.mark.parametrize(
    ("state", "said"),
    [(None, NO_ROOT), ({"resources": []}, NO_ROOT), (SOMETHING, NO_ROOT), (None, NO_KEY)],
    ids=["never updated", "emptied", "without a root", "nothing that anybody could be at work on"],
)
def test_a_stack_without_a_root_to_ask_for_is_free(tmp_path: Path, state: Json | None, said: str) -> None:
    assert locks.owners(pulumi(tmp_path, state, locked=said), "runai-kit") == []


def test_a_message_without_an_owner_is_an_error() -> None:
    with pytest.raises(HealError, match="cannot be read"):
        locks.parse("the stack is currently locked by 1 lock(s).")


def test_a_process_that_ended_is_gone(ended: int) -> None:
    assert locks.gone(Owner("root", socket.gethostname(), ended, NOW))


def test_a_killed_process_that_nobody_waited_for_is_gone() -> None:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert locks.gone(Owner("root", socket.gethostname(), process.pid, NOW))
    finally:
        process.wait()


def test_the_number_of_another_program_is_not_the_run() -> None:
    assert locks.gone(Owner("root", socket.gethostname(), os.getpid(), NOW))


def test_a_pulumi_that_began_long_after_the_lock_is_another_run(named_pulumi: int) -> None:
    here = socket.gethostname()
    now = datetime.now(UTC)
    assert not locks.gone(Owner("root", here, named_pulumi, now + timedelta(seconds=5)))
    assert locks.gone(Owner("root", here, named_pulumi, now - timedelta(hours=1)))


def test_a_living_run_and_one_elsewhere_are_left_alone(named_pulumi: int) -> None:
    since = datetime.now(UTC)
    for owner in (
        Owner("root", socket.gethostname(), named_pulumi, since),
        Owner("root", "another-machine", 1, since),
    ):
        with pytest.raises(HealError, match=f"locked by process {owner.pid} of root on {owner.host}"):
            locks.refuse_living("local", [owner])
