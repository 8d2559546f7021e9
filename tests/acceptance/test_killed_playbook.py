"""A playbook that is killed in the middle of a test: the next run removes what it left, and passes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.acceptance import interrupting
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, prove
from validation import names
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("V11")]
# The sampler looks for its parent once a second; what waits for the cluster ends with its parent.
SECONDS_TO_END = 10.0


@dataclass(frozen=True)
class Case:
    """`pods`: how many pods of the test run when it is killed."""

    test: str
    requirement: str
    pods: int


CASES = [Case("fractional_gpu", "V2", 1), Case("over_quota", "V3", 2), Case("gang", "V9", 2)]


def running(kubectl: Kubectl, test: str) -> list[str]:
    """Names of the test's running pods."""
    pods = kubectl("get", "pods", "-A", "-l", f"{names.TEST_LABEL}={test}")["items"]
    return [pod["metadata"]["name"] for pod in pods if pod["status"].get("phase") == "Running"]


def of_run(folder: Path) -> list[psutil.Process]:
    """Processes, zombies among them, whose command names the run's folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(folder) in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def tidy(kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path) -> Iterator[None]:
    """Whatever a failed test left is removed by a run of preflight."""
    yield
    if any(running(kubectl, case.test) for case in CASES):
        prove("preflight", outputs, tmp_path / "tidy")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.requirement)
@pytest.mark.usefixtures("tidy")
def test_the_next_run_removes_what_was_left_and_passes(
    case: Case, kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    play = ("ansible-playbook", "-i", f"inventory/{outputs.environment}", f"validation/{case.test}.yml")
    process = interrupting.begin(tmp_path / "log", *play, "-e", f"kit_report_dir={folder}")
    end = time.monotonic() + 180
    while len(running(kubectl, case.test)) < case.pods:
        assert process.poll() is None, (tmp_path / "log").read_text()[-3000:]
        assert time.monotonic() < end, "the test's pods did not run"
        time.sleep(0.3)
    ours = of_run(folder)
    assert any("validation.sampler" in word for it in ours for word in it.cmdline()), "no sampler at work"
    interrupting.kill(process)
    _, alive = psutil.wait_procs(ours, timeout=SECONDS_TO_END)
    assert alive == [], "processes of a dead run go on"
    left = running(kubectl, case.test)
    assert left, "the run was killed, and something cleaned up after it"
    code, checks = prove(case.test, outputs, tmp_path / "next")
    assert failed(checks) == set()
    assert code == 0
    removed = str(checks["preflight.leftovers"])
    assert [name for name in left if name not in removed] == [], "not told that it was there"
    assert of_run(tmp_path) == [], "nothing of either run is at work"
    assert kubectl("get", "pods", "-A", "-l", f"{names.PART_OF_LABEL}={names.PART_OF}")["items"] == []
