from __future__ import annotations

from pathlib import Path

import pytest

from local.cluster import watches


@pytest.fixture
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "max_user_instances").write_text("128\n")
    (tmp_path / "max_user_watches").write_text("600000\n")
    monkeypatch.setattr(watches, "FOLDER", tmp_path)
    return tmp_path


def test_a_low_limit_is_raised_and_a_higher_one_is_kept(limits: Path) -> None:
    assert "sysctl -w fs.inotify.max_user_instances=512" in watches.advice()
    watches.provide()
    assert (limits / "max_user_instances").read_text() == "512"
    assert (limits / "max_user_watches").read_text() == "600000\n"
    assert watches.advice() == ""


def test_who_may_not_raise_it_is_advised_and_not_stopped(
    limits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, text: str) -> int:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "write_text", refused)
    watches.provide()
    assert (limits / "max_user_instances").read_text() == "128\n"
    assert watches.advice().endswith("sysctl -w fs.inotify.max_user_instances=512")
