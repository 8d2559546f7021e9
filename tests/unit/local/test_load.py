"""Loading images: into every worker, and a node that refuses them fails the stage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local import paths, shell
from local.cluster import load

pytestmark = pytest.mark.req("E1")

NODES = ("kit-control-plane", "kit-worker", "kit-worker2")


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A podman that writes what it is given to a file named by the node, and fails for a node `broken`."""
    (tmp_path / "podman").write_text(
        f'#!/bin/sh\ncat > "{tmp_path}/got-$3"\ntest "$3" != "$BROKEN" || {{ echo no space; exit 7; }}\n'
    )
    (tmp_path / "podman").chmod(0o755)
    (tmp_path / "a b.tar").write_text("archive")
    listed = {"items": [{"metadata": {"name": name}} for name in NODES]}
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(paths, "STATE", tmp_path)
    monkeypatch.setattr(shell, "read", lambda words: "uid" if "namespace" in words else json.dumps(listed))
    return tmp_path


def test_every_worker_gets_the_archive(nodes: Path) -> None:
    load.load("lab", nodes / "a b.tar")
    assert sorted(path.name for path in nodes.glob("got-*")) == ["got-kit-worker", "got-kit-worker2"]
    assert (nodes / "got-kit-worker2").read_text() == "archive"
    assert load.stamp("lab").exists()


@pytest.mark.parametrize("broken", NODES[1:])
def test_one_refusal_fails_and_leaves_no_mark(
    nodes: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    monkeypatch.setenv("BROKEN", broken)
    with pytest.raises(shell.CommandError, match="no space"):
        load.load("lab", nodes / "a b.tar")
    assert not load.stamp("lab").exists()
