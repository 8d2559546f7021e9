"""What comes from registries: only what is pinned gets into an image, and scripts find the image's Python."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from local import downloads

pytestmark = pytest.mark.req("E1")


def _package(content: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        member = tarfile.TarInfo("package/data/file")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> bytes:
    """The bytes that the registry gives for one@1.0; npm.lock is still to be written."""
    archive = _package(b"content")

    def run(words: Sequence[str | Path], **_: Any) -> None:
        assert words[-1] == "one@1.0"
        (Path(words[words.index("--pack-destination") + 1]) / "one-1.0.tgz").write_bytes(archive)

    monkeypatch.setenv("RUNAI_KIT_CACHE", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("local.shell.run", run)
    monkeypatch.setattr(downloads, "NPM", tmp_path / "npm.lock")
    return archive


def _pin(content: bytes) -> None:
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
    downloads.NPM.write_text(f"other@2.0 sha512-xyz\none@1.0 sha512-{digest}\n")


def test_a_pinned_package_is_unpacked(packed: bytes) -> None:
    _pin(packed)
    assert (downloads.npm("one") / "package" / "data" / "file").read_bytes() == b"content"


def test_a_package_of_another_content_is_refused(packed: bytes, tmp_path: Path) -> None:
    _pin(packed + b"!")
    with pytest.raises(ValueError, match=r"one@1.0: found sha512-.*, expected sha512-.* \(npm.lock\)"):
        downloads.npm("one")
    assert not [path for path in (tmp_path / "npm").iterdir() if path.suffix != ".partial"]


def test_a_package_without_a_pin_is_not_asked_for(packed: bytes) -> None:
    _pin(packed)
    with pytest.raises(ValueError, match="found no line for two"):
        downloads.npm("two")


def test_scripts_start_with_the_images_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def run(words: Sequence[str | Path], **_: Any) -> None:
        scripts = Path(words[words.index("--target") + 1]) / "bin"
        scripts.mkdir()
        (scripts / "tool").write_bytes(b"#!/home/builder/venv/bin/python\nimport tool\n")
        (scripts / "shell").write_bytes(b"#!/bin/sh\nexit 0\n")

    monkeypatch.setenv("RUNAI_KIT_CACHE", str(tmp_path))
    monkeypatch.setattr("local.shell.run", run)
    scripts = downloads.wheels("openai") / "bin"
    assert (scripts / "tool").read_bytes() == b"#!/usr/bin/python3\nimport tool\n"
    assert (scripts / "shell").read_bytes() == b"#!/bin/sh\nexit 0\n"
