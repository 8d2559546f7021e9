"""I14: a checkpoint whose attributes a kill left empty is readable again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from day2.healing import checkpoint
from day2.healing.command import HealError, Json, Pulumi

pytestmark = pytest.mark.req("I14")


@dataclass(frozen=True)
class Backend(Pulumi):
    """Reads a checkpoint as the file backend does: with its attributes, where there are any."""

    def state(self) -> Json:
        file = self.project / ".pulumi/stacks/runai-kit/local.json"
        try:
            for path in (file, *file.parent.glob(f"{file.name}.attrs")):
                json.loads(path.read_text())
        except ValueError:
            raise HealError("error: failed to load checkpoint: EOF") from None
        state: Json = json.loads(file.read_text())
        return state

    def backend(self) -> str:
        return f"file://{self.project}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".pulumi/stacks/runai-kit"
    made.mkdir(parents=True)
    (made / "local.json").write_text('{"resources": [1]}')
    (made / "local.json.bak").write_text('{"resources": []}')
    return made


def test_empty_attributes_go_and_the_checkpoint_stays(tmp_path: Path, folder: Path) -> None:
    (folder / "local.json.attrs").write_text("")
    (folder / "local.json.bak.attrs").write_text("{}")
    assert checkpoint.state(Backend("local", tmp_path), "runai-kit") == {"resources": [1]}
    assert [path.name for path in folder.glob("*.attrs")] == ["local.json.bak.attrs"]


def test_a_broken_checkpoint_goes_back_to_the_one_before(tmp_path: Path, folder: Path) -> None:
    (folder / "local.json").write_text('{"resour')
    assert checkpoint.state(Backend("local", tmp_path), "runai-kit") == {"resources": []}
    assert (folder / "local.json.broken").read_text() == '{"resour'


def test_two_broken_checkpoints_are_an_error(tmp_path: Path, folder: Path) -> None:
    for name in ("local.json", "local.json.bak"):
        (folder / name).write_text("")
    with pytest.raises(HealError, match="failed to load checkpoint"):
        checkpoint.state(Backend("local", tmp_path), "runai-kit")
