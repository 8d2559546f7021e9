"""`pulumi` begun, watched, ended by a signal at a moment of its progress, and put right as people do it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance.conftest import ROOT

Json = dict[str, Any]
QUIET = ("--stack", "local", "--yes", "--skip-preview", "--non-interactive")
# A pod that is on its way out for longer is draining connections, which nobody needs here.
DRAINING_SECONDS = 3


@dataclass(frozen=True)
class Left:
    """What an ended run left in the stack's state: resources, and operations without an end."""

    resources: int
    pending: list[str]
    locked: bool


def run(*command: str, seconds: float = 600) -> str:
    """A command that has to end well; its output."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    text = done.stdout + done.stderr
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{text[-4000:]}"
    return text


def begin(log: Path, *command: str) -> subprocess.Popen[bytes]:
    """A command in a process group of its own, its output in `log`."""
    with log.open("wb") as out:
        return subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )


def reached(process: subprocess.Popen[bytes], log: Path, moment: str, seconds: float = 240) -> None:
    """Wait until a line of the log matches `moment`; AssertionError when the command ends without."""
    pattern, end = re.compile(moment), time.monotonic() + seconds
    while not pattern.search(log.read_text(errors="replace") if log.exists() else ""):
        assert process.poll() is None, f"ended before {moment!r}:\n{log.read_text()[-3000:]}"
        assert time.monotonic() < end, f"{moment!r} not within {seconds:g} s:\n{log.read_text()[-3000:]}"
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
    begun = time.monotonic()
    text = run("make", "--no-print-directory", "up", "ENV=local")
    return time.monotonic() - begun, text


def unchanged() -> None:
    """The cluster is as the stack says, and both as the program says."""
    run("pulumi", "preview", "--stack", "local", "--non-interactive", "--refresh", "--expect-no-changes")


def nothing() -> None:
    """Whatever is there, also after a test that failed, is taken away."""
    if left() != Left(0, [], locked=False):
        recover()
        destroy()


def destroy() -> None:
    """Take the stack away; what only drains is ended at once, which is not what is tested."""
    with no_draining():
        run("pulumi", "destroy", *QUIET)
    assert left() == Left(0, [], locked=False)


@contextmanager
def no_draining() -> Iterator[None]:
    """End pods that are being deleted without their grace period."""
    stop = threading.Event()

    def work() -> None:
        seen: dict[str, float] = {}
        while not stop.wait(1):
            for pod in json.loads(run("kubectl", "get", "pods", "-A", "-o", "json"))["items"]:
                meta = pod["metadata"]
                if "deletionTimestamp" not in meta:
                    continue
                if time.monotonic() - seen.setdefault(meta["uid"], time.monotonic()) > DRAINING_SECONDS:
                    end_now(meta["namespace"], meta["name"])

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)


def end_now(namespace: str, pod: str) -> None:
    now = ("--grace-period=0", "--force", "--wait=false", "--ignore-not-found")
    subprocess.run(
        ["kubectl", "delete", "pod", pod, "-n", namespace, *now], capture_output=True, timeout=60, check=False
    )
