"""Other ends than that of an installation: a recovery that is killed itself, an interrupt, a killed destroy.

The tests stand in the order in which they need the stack.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local import paths
from tests.acceptance import interrupting
from tests.acceptance.commands import YES, pulumi_command, run
from tests.acceptance.interrupting import NOTHING

pytestmark = [pytest.mark.scratch, pytest.mark.req("I14")]
UP, DESTROY = pulumi_command("up", *YES), pulumi_command("destroy", *YES)
KAI_GOES = r"Release kai-scheduler deleting"


@pytest.fixture(scope="module", autouse=True)
def whole_afterwards() -> Iterator[None]:
    """Begins with nothing installed, ends with everything."""
    interrupting.nothing()
    yield
    interrupting.recover()


def ended_at(log: Path, line: str, seconds: float, *command: str, number: int = signal.SIGKILL) -> None:
    """Begin a command and end it `seconds` after a line of its log."""
    process = interrupting.begin(log, *command)
    interrupting.reached(process, log, line)
    time.sleep(seconds)
    interrupting.kill(process, number)


def test_a_killed_recovery_is_done_again(tmp_path: Path) -> None:
    ended_at(tmp_path / "up", r"Release kai-scheduler creating", 3, *UP)
    first = interrupting.left()
    assert first.locked
    assert any("kai-scheduler" in item for item in first.pending)
    log = paths.LOGS / "up.log"
    log.unlink(missing_ok=True)
    recovery = interrupting.begin(tmp_path / "recovery", "make", "up", "ENV=local")
    interrupting.reached(recovery, log, "clearing [0-9]+ operations")
    time.sleep(1)
    interrupting.kill(recovery)
    assert interrupting.left() != NOTHING
    interrupting.recover()
    interrupting.unchanged()


def test_a_killed_destroy_can_become_an_installation_again(tmp_path: Path) -> None:
    before = interrupting.left().resources
    ended_at(tmp_path / "destroy", KAI_GOES, 1, *DESTROY)
    left = interrupting.left()
    assert left.locked
    assert left.resources < before
    interrupting.recover()
    interrupting.unchanged()
    assert interrupting.left().resources == before


def test_a_killed_destroy_is_ended_by_the_next(tmp_path: Path) -> None:
    ended_at(tmp_path / "destroy", KAI_GOES, 1, *DESTROY)
    assert interrupting.left().locked
    told = run("make", "--no-print-directory", "heal", "ENV=local").well()
    assert "ready for the next run" in told.text
    interrupting.destroy()


def test_an_interrupt_leaves_no_lock_and_the_next_up_ends_it(tmp_path: Path) -> None:
    ended_at(tmp_path / "up", r"Deployment haproxy creating", 0, *UP, number=signal.SIGINT)
    left = interrupting.left()
    assert not left.locked
    assert left.resources > 0
    interrupting.recover()
    interrupting.unchanged()


def test_a_half_written_checkpoint_goes_back_to_the_one_before() -> None:
    """As after a power cut: Pulumi itself replaces the file as a whole."""
    checkpoint = paths.PULUMI_STATE / ".pulumi" / "stacks" / "runai-kit" / "local.json"
    whole = checkpoint.read_bytes()
    checkpoint.write_bytes(whole[: len(whole) // 2])
    told = run(sys.executable, "-m", "day2.healing", "local").well()
    assert "does not read, going back" in told.text
    interrupting.recover()
    interrupting.unchanged()
