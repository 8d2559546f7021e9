"""A planted secret is found nowhere; and nothing of a run stays in the temp folder."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import corpus
from tests.acceptance.canary import CANARY, leaking, leaks, watched_arguments
from tests.acceptance.commands import pulumi, run
from tests.acceptance.conftest import ROOT
from tests.acceptance.refusing import Stack
from validation.settings import StackOutputs

pytestmark = pytest.mark.req("I13")
Json = dict[str, Any]


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """What a run of a user's takes for the machine's temp folder."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


def test_the_search_finds_each_form() -> None:
    for text in (CANARY, f"user:{CANARY}@host", f"ab{CANARY}cd"):
        assert leaks(base64.b64encode(text.encode()))
        assert leaks(json.dumps({"a": text}).encode())
        assert leaks(urllib.parse.quote(text, safe="").encode())
    assert not leaks(b"canary")


@pytest.mark.parametrize("place", [p for p in corpus.secrets() if p.path[0] == "registry"], ids=str)
def test_a_secret_setting_is_in_no_state_log_argument_or_file(
    place: corpus.Place, outputs: StackOutputs, tmp_path: Path, temporary: Path
) -> None:
    """A preview with everything it can log, of a stack that puts the secret into every namespace."""
    stack = Stack(tmp_path, "canary")
    cluster = {"kind": "local", "context": outputs.context, "kubeconfig": str(outputs.kubeconfig)}
    stack.configure({"cluster": cluster, "registry": {"prefix": "mirror.example.test", "username": "robot"}})
    with watched_arguments() as arguments:
        # From standard input, as docs/security-credentials.md says: an argument would be seen by others.
        planted = stack.pulumi("config", "set", "--secret", "--path", f"runai-kit:{place}", text=CANARY)
        planted.well()
        # Not in a folder that goes with the run: what it leaves is searched.
        planned = run(
            *("pulumi", "preview", "--stack", stack.name, "--non-interactive"),
            *("--diff", "-v=9", "--logtostderr"),
            folder=stack.folder,
            env={**stack.environment, "TMPDIR": str(temporary)},
        )
    assert planned.code == 0, planned.text[-3000:]
    assert "to create" in planned.text
    assert leaks((planted.text + planned.text).encode()) == []
    assert [line for line in arguments if leaks(line)] == []
    assert leaking(stack.folder / "stacks") == []
    assert leaking(tmp_path / "state") == []
    assert leaking(temporary) == []


@pytest.mark.req("I14")
def test_a_preview_leaves_nothing_in_the_temp_folder(temporary: Path) -> None:
    pulumi("preview", env={**os.environ, "TMPDIR": str(temporary)}).well()
    assert list(temporary.iterdir()) == []


@pytest.mark.req("I14", "V12")
def test_a_playbook_shows_no_credential_and_leaves_nothing(
    outputs: StackOutputs, tmp_path: Path, temporary: Path
) -> None:
    """With all it can say (-vvv): the kubeconfig's own key is the canary."""
    users = yaml.safe_load(Path(outputs.kubeconfig).read_text())["users"]
    key = next(user["user"]["client-key-data"] for user in users)
    # A line from the key's middle, in both of its forms.
    line = base64.b64decode(key).decode().splitlines()[10]
    environment = {**os.environ, "TMPDIR": str(temporary), "KIT_REPORT_DIR": str(tmp_path / "report")}
    command = [
        "ansible-playbook",
        "-vvv",
        "-i",
        f"inventory/{outputs.environment}",
        "validation/preflight.yml",
    ]
    with watched_arguments() as arguments:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:]
    assert list(temporary.iterdir()) == []
    said = [done.stdout, done.stderr, *arguments]
    said += [path.read_bytes() for path in (tmp_path / "report").rglob("*") if path.is_file()]
    assert [data[:200] for data in said if key.encode()[:200] in data or line.encode() in data] == []
