"""Providers whose engine is gone are ended; those of a living engine or of another project are not."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from day2.healing import orphans

pytestmark = pytest.mark.req("I14")
Start = Callable[[Path, str], subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a program of a plugin's name in a folder, with an engine's address."""
    begun: list[subprocess.Popen[bytes]] = []
    program = tmp_path / "pulumi-resource-kubernetes"
    program.write_text("#!/bin/sh\nsleep 60 & wait\n")
    program.chmod(0o755)

    def call(folder: Path, address: str) -> subprocess.Popen[bytes]:
        begun.append(subprocess.Popen([program, address], cwd=folder))
        return begun[-1]

    yield call
    for process in begun:
        process.kill()
        process.wait()


def closed() -> str:
    """An address that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


def test_only_plugins_of_a_dead_engine_of_this_project_are_ended(tmp_path: Path, start: Start) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as engine:
        orphan = start(project, closed())
        served = start(project, f"127.0.0.1:{engine.getsockname()[1]}")
        theirs = start(other, closed())
        assert len(orphans.end(project)) == 1
        assert orphan.wait(timeout=5) is not None
        assert served.poll() is None
        assert theirs.poll() is None


def test_what_does_not_listen_to_a_request_is_killed(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pulumi-resource-kubernetes").write_text(
        "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n"
    )
    monkeypatch.setattr(orphans, "GRACE_SECONDS", 0.5)
    process = start(tmp_path, closed())
    orphans.end(tmp_path)
    assert process.wait(timeout=5) is not None
