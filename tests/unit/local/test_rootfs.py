"""Debian roots: a suite that apt does not list comes from the same mirror, checked with the same keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from local import paths, rootfs

pytestmark = pytest.mark.req("E1")

LISTED = """\
Types: deb
URIs: http://mirror.example.test/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    file = tmp_path / "debian.sources"
    file.write_text(LISTED)
    monkeypatch.setattr(rootfs, "_listing", lambda suite: [file] if suite in file.read_text() else [])
    return file


def test_the_later_suite_is_asked_for_where_the_listed_one_is(sources: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    made = rootfs._sources("trixie", tmp_path / "work")
    assert [file.read_text() for file in made] == [LISTED.replace("bookworm", "trixie")]
    assert sources.read_text() == LISTED


def test_a_suite_that_apt_lists_is_used_as_it_is(sources: Path, tmp_path: Path) -> None:
    assert rootfs._sources("bookworm", tmp_path) == [sources]


def test_a_machine_without_a_source_is_told_what_to_add(sources: Path, tmp_path: Path) -> None:
    sources.write_text("Suites: noble\n")
    for suite in ("bookworm", "trixie"):
        with pytest.raises(FileNotFoundError, match="found no source for Debian bookworm"):
            rootfs._sources(suite, tmp_path)


@pytest.mark.parametrize("root", sorted(rootfs.ROOTS))
def test_no_root_is_made_without_signatures(
    monkeypatch: pytest.MonkeyPatch, sources: Path, tmp_path: Path, root: str
) -> None:
    commands: list[list[str]] = []

    def run(words: list[str | Path]) -> None:
        commands.append([str(word) for word in words])
        commands[-1] += [file.read_text() for file in map(Path, words) if file.suffix == ".sources"]
        Path(next(str(word) for word in words if str(word).endswith(".partial.tar"))).touch()

    monkeypatch.setattr(paths, "cache", lambda: tmp_path)
    monkeypatch.setattr("local.shell.run", run)
    rootfs.make(root)
    text = " ".join(commands[0])
    assert "Signed-By: " in text
    assert "trusted" not in text
    assert "unauthenticated" not in text
