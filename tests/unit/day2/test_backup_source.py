"""What a stack says about its control plane, and each way in which a backup of it cannot begin."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from components.runai.errors import ApiError
from day2.backup.__main__ import main
from day2.backup.document import BackupError
from day2.backup.source import read
from tests.unit.validation.double import OUTPUTS

pytestmark = pytest.mark.req("I6", "I15")
Json = dict[str, Any]
URL = "https://runai.example.test"
PLANE = {"url": URL, "ca": "", "version": "3.0.24", "clusterName": "gpu", "clusterId": "u-1"}
FULL = {"profile": "full", "controlPlane": PLANE, "kubeconfig": ""}
ACCESS = {"clientId": "kit", "clientSecret": "of-a-test"}


def setting(value: Any) -> Json:
    return {"value": json.dumps(value), "objectValue": value, "secret": False}


class Pulumi:
    """A `pulumi` on PATH that tells these outputs and settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def tells(self, outputs: Json, **settings: Any) -> None:
        (self.folder / "outputs").write_text(json.dumps({**OUTPUTS, **outputs}))
        config = {f"runai-kit:{key}": setting(value) for key, value in settings.items()}
        (self.folder / "config").write_text(json.dumps(config))
        program = self.folder / "pulumi"
        program.write_text(
            '#!/bin/sh\n[ "$1" = stack ] && file=outputs || file=config\ncat "${0%/*}/$file"\n'
        )
        program.chmod(0o755)


@pytest.fixture
def pulumi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pulumi:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Pulumi(folder)


def test_a_stack_that_installs_speaks_of_every_cluster(pulumi: Pulumi, tmp_path: Path) -> None:
    accounts = [{"name": "kit", "grants": []}]
    pulumi.tells(FULL, controlPlane={"access": ACCESS}, serviceAccounts=accounts)
    source = read("site", tmp_path)
    assert (source.cluster, source.elsewhere, source.accounts) == ("", "", frozenset({"kit"}))
    assert (source.access.url, source.access.client_id) == (URL, "kit")
    assert source.access.client_secret == "of-a-test"
    assert "of-a-test" not in repr(source)


def test_agents_of_others_control_plane_speak_of_their_own_cluster(pulumi: Pulumi, tmp_path: Path) -> None:
    given = {"source": "given", "domain": "runai.example.test", "access": ACCESS}
    pulumi.tells(FULL, controlPlane=given)
    source = read("site", tmp_path)
    assert source.cluster == "u-1"
    assert source.elsewhere == "the control plane belongs to another stack, which saves its database"
    pulumi.tells({**FULL, "controlPlane": {**PLANE, "clusterId": ""}}, controlPlane=given)
    with pytest.raises(BackupError, match="found neither a control plane nor a cluster in its outputs"):
        read("site", tmp_path)


def test_without_credentials_the_settings_are_named(pulumi: Pulumi, tmp_path: Path) -> None:
    pulumi.tells(FULL, controlPlane={"version": "3.0.24"})
    with pytest.raises(ApiError, match=r"found no credentials; .*set runai-kit:controlPlane.access"):
        read("site", tmp_path)


def test_settings_that_the_program_refuses_are_named_without_values(pulumi: Pulumi, tmp_path: Path) -> None:
    pulumi.tells(FULL, controlPlane={"access": {"clientSecret": "of-a-test"}, "versoin": "3"})
    with pytest.raises(BackupError, match="found what the program refuses, at versoin") as caught:
        read("site", tmp_path)
    assert "of-a-test" not in str(caught.value)


@pytest.mark.parametrize(("command", "code"), [("save", 1), ("restore", 2)])
def test_the_other_profile_is_told_where_its_projects_are(
    command: str, code: int, pulumi: Pulumi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pulumi.tells({"profile": "modular", "kubeconfig": ""})
    folder = tmp_path / "backup.yaml"
    folder.write_text(
        "{format: 1, made: 2026-01-01T00:00:00Z, stack: site, controlPlane: {url: u, version: v}, "
        "clusters: [], objects: [], database: {}}"
    )
    assert main([command, "site", *([str(folder)] if command == "restore" else [])], tmp_path) == code
    said = capsys.readouterr().err
    assert "found profile modular without a control plane; expected profile full" in said
    assert said.endswith(f"Nothing was {'kept' if code == 1 else 'changed'}.\n")


def test_a_stack_that_pulumi_cannot_read_is_one_line(
    pulumi: Pulumi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = pulumi.folder / "pulumi"
    program.write_text("#!/bin/sh\necho 'no stack named site' >&2\nexit 255\n")
    program.chmod(0o755)
    assert main(["save", "site"], tmp_path) == 1
    said = capsys.readouterr().err
    assert "no stack named site" in said
    assert "Traceback" not in said
