"""`pulumi` begun, watched, ended by a signal at a moment of its progress, and put right as people do it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance import operating
from tests.acceptance.commands import pulumi, run
from tests.acceptance.conftest import ROOT

Json = dict[str, Any]


@dataclass(frozen=True)
class Left:
    """What an ended run left in the stack's state: resources, and operations without an end."""

    resources: int
    pending: list[str]
    locked: bool


# What people are told to use after a run that was killed.
AGAIN = ("make", "--no-print-directory", "up", "ENV=local")
NOTHING = Left(0, [], locked=False)


def begin(log: Path, *command: str) -> subprocess.Popen[bytes]:
    """A command in a process group of its own, its output in `log`."""
    with log.open("wb") as out:
        return subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )


def reached(process: subprocess.Popen[bytes], log: Path, moment: str, seconds: float = 240) -> None:
    """Wait until a line of the log matches `moment`; AssertionError when the command ends without."""
    pattern, end = re.compile(moment), time.monotonic() + seconds
    while not pattern.search(said := log.read_text(errors="replace") if log.exists() else ""):
        assert process.poll() is None, f"ended before {moment!r}:\n{said[-3000:]}"
        assert time.monotonic() < end, f"{moment!r} not within {seconds:g} s:\n{said[-3000:]}"
        time.sleep(0.05)


def kill(process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
    """Send a signal to the whole process group, as a terminal or a CI that gives up does."""
    os.killpg(process.pid, number)
    process.wait(timeout=120)


def left() -> Left:
    """What the state file says now; Pulumi itself is not asked, the lock would be in its way."""
    backend = Path(os.environ["PULUMI_BACKEND_URL"].removeprefix("file://")) / ".pulumi"
    checkpoint = json.loads((backend / "stacks" / "runai-kit" / "local.json").read_text())
    latest = checkpoint["checkpoint"].get("latest") or {}
    pending = [
        f"{item['type']} {item['resource']['urn'].split('::')[-1]}"
        for item in latest.get("pending_operations") or []
    ]
    locked = any((backend / "locks").glob("**/local/*.json"))
    return Left(len(latest.get("resources") or []), pending, locked)


def recover() -> tuple[float, str]:
    """(seconds, output) of the one command that people are told to use."""
    done = run(*AGAIN, timeout=600).well()
    return done.seconds, done.text


def unchanged() -> None:
    """The cluster is as the stack says, and both as the program says."""
    pulumi("preview", "--refresh", "--expect-no-changes").well()


def nothing() -> None:
    """Whatever is there, also after a test that failed, is taken away."""
    if left() != NOTHING:
        run("make", "--no-print-directory", "heal", "ENV=local").well()
        _end_serving()
        operating.destroy("--workloads", "--purge").well()
        assert left() == NOTHING


def _end_serving() -> None:
    """Knative's pods take 45 s to drain, whatever they are given: here nobody is served."""
    kubectl = ("kubectl", "-n", "knative-serving")
    run(*kubectl, "scale", "deployment", "--all", "--replicas=0")
    run(*kubectl, "delete", "pod", "--all", "--grace-period=0", "--force")
