"""Processes that a killed Pulumi leaves behind: providers go on with what they had begun for minutes.

A provider asks every five minutes whether its engine is there (`rpcutil.Healthcheck` of Pulumi's SDK). Until
then it may finish a Helm install that no state knows of, while the next run is at work.
"""

from __future__ import annotations

import re
import socket
from pathlib import Path

import psutil

PROGRAM = re.compile(r"pulumi-(resource|language)-[\w-]+$")
ADDRESS = re.compile(r"127\.0\.0\.1:(\d+)$")
GRACE_SECONDS = 3.0


def end(project: Path) -> list[str]:
    """End the plugins of this project whose engine is gone; returns their names.

    Killed after GRACE_SECONDS if they do not go by themselves.
    """
    found = [process for process in psutil.process_iter() if _orphan(process, project)]
    names = []
    for process in found:
        try:
            names.append(process.name())
            process.terminate()
        except psutil.NoSuchProcess:
            continue
    _, alive = psutil.wait_procs(found, timeout=GRACE_SECONDS)
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=GRACE_SECONDS)
    return names


def _orphan(process: psutil.Process, project: Path) -> bool:
    """Whether it is a plugin that works in `project` for an engine that listens no more."""
    try:
        words = process.cmdline()
        if not any(PROGRAM.search(word) for word in words[:2]) or Path(process.cwd()) != project.resolve():
            return False
    except psutil.Error:
        return False  # Gone meanwhile, or another user's.
    ports = [int(match[1]) for word in words if (match := ADDRESS.match(word))]
    return bool(ports) and not any(_listens(port) for port in ports)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
