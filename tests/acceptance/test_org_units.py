"""Org units with the real engine against the double: made, compared, refreshed, refused and removed."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import pulumi
from tests.contract.conftest import Double, Start, authority, start  # noqa: F401 (fixtures)
from tests.contract.control_plane.failures import Fault
from tests.contract.control_plane.options import Options

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "fixtures" / "org_units"
TREE: dict[str, Any] = {
    "pools": [{"name": "h100"}],
    "departments": [
        {
            "name": "engineering",
            "nodePool": "h100",
            "gpu": {"deserved": 2, "limit": 4},
            "projects": [{"name": "team-a", "gpu": {"deserved": 1, "limit": 2}}],
        },
        {"name": "default", "gpu": {"deserved": -1}, "projects": [{"name": "test", "gpu": {"deserved": 1}}]},
    ],
    "accounts": [{"name": "robot", "grants": [{"role": "L1 researcher", "scope": "project/team-a"}]}],
}


@dataclass
class Stack:
    """A stack in a backend of its own, whose program declares `tree`."""

    double: Double
    folder: Path
    tree: dict[str, Any]

    def run(self, *arguments: str, text: str = "", fails: bool = False) -> str:
        """What pulumi said. Fails the test when it ends otherwise than expected."""
        access = self.double.access
        env = os.environ | {
            "PATH": f"{ROOT}/build/bin:{ROOT}/build/venv/bin:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PULUMI_BACKEND_URL": f"file://{self.folder}",
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "of a test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "KIT_TEST_AT": json.dumps({"url": access.url, "ca": access.ca}),
            "KIT_TEST_TREE": json.dumps(self.tree),
        }
        done = pulumi(*arguments, stack="test", folder=self.folder, env=env, text=text, timeout=300)
        assert bool(done.code) == fails, done.text
        return done.text

    def up(self, fails: bool = False) -> str:
        """`pulumi up` without a question, with the differences in its answer."""
        return self.run("up", "--yes", "--skip-preview", "--diff", fails=fails)

    def unchanged(self) -> None:
        """Fails unless a preview wants nothing."""
        self.run("preview", "--expect-no-changes")


@pytest.fixture
def stack(start: Start, tmp_path: Path) -> Stack:  # noqa: F811 (the fixture)
    folder = tmp_path / "program"
    (folder / "stacks").mkdir(parents=True)
    for name in ("Pulumi.yaml", "__main__.py"):
        (folder / name).write_text((PROGRAM / name).read_text(encoding="utf-8"))
    # Phases take their time, tokens end in the middle.
    double = start(Options(ready_after=0.5, connect_after=0.5, token_seconds=3))
    found = Stack(double, folder, copy.deepcopy(TREE))
    found.run("stack", "init")
    for place, value in (("username", double.access.username), ("password", double.access.password)):
        key = f"runai-kit:controlPlane.admin.{place}"
        found.run("config", "set", "--secret", "--path", key, text=value)
    return found


def quotas(double: Double) -> dict[str, float]:
    state = double.running.state
    units = [*state.departments.values(), *state.projects.values()]
    return {unit["name"]: sum(q["gpu"].get("deserved", 0) for q in unit["resources"]) for unit in units}


@pytest.mark.req("I5", "I6", "I14")
def test_org_units_from_nothing_to_nothing(stack: Stack) -> None:
    state = stack.double.running.state
    stack.up()
    assert quotas(stack.double) == {"default": 1, "engineering": 2, "team-a": 1, "test": 1}
    assert {item["requestedNamespace"] for item in state.projects.values()} == {"runai-team-a", "runai-test"}
    assert [rule["roleName"] for rule in state.rules.values()] == ["L1 researcher"]
    stack.unchanged()
    _no_secret_in_clear(stack)
    # A hand-made change is shown, and taken back.
    for project in state.projects.values():
        project["resources"][0]["gpu"]["deserved"] = 7
    assert "1 => 7" in stack.run("refresh", "--yes", "--skip-preview", "--diff")
    stack.up()
    assert quotas(stack.double)["team-a"] == 1
    # What somebody removed is made again.
    gone = next(id_ for id_, item in state.projects.items() if item["name"] == "test")
    del state.projects[gone]
    stack.run("refresh", "--yes", "--skip-preview")
    stack.up()
    assert quotas(stack.double)["test"] == 1
    # A change of the stack is one request and nothing else.
    stack.tree["departments"][0]["projects"][0]["gpu"]["deserved"] = 2
    assert "1 updated" in stack.up()
    assert quotas(stack.double)["team-a"] == 2
    stack.run("destroy", "--yes", "--skip-preview")
    left = (state.projects, state.accounts, state.rules, state.clusters, state.node_pools, state.departments)
    assert [len(items) for items in left] == [0] * 6


@pytest.mark.req("I6")
def test_a_refusal_is_one_sentence_and_is_made_good(stack: Stack) -> None:
    state = stack.double.running.state
    state.journal.faults.append(Fault("POST", "/api/v1/org-unit/projects", 2, 403))
    said = stack.up(fails=True)
    assert "found 403 on demand; expected a role that allows this; give the account an access rule" in said
    assert "Traceback" not in said
    stack.up()
    assert set(quotas(stack.double)) == {"default", "engineering", "team-a", "test"}
    stack.run("destroy", "--yes", "--skip-preview")


@pytest.mark.req("I6")
def test_a_name_that_changes_is_another_object(stack: Stack) -> None:
    stack.up()
    stack.tree["departments"][0]["projects"][0]["name"] = "team-b"
    stack.tree["accounts"][0]["grants"][0]["scope"] = "project/team-b"
    stack.up()
    assert set(quotas(stack.double)) == {"default", "engineering", "team-b", "test"}
    stack.run("destroy", "--yes", "--skip-preview")


def _no_secret_in_clear(stack: Stack) -> None:
    state = stack.double.running.state
    known = [stack.double.access.password, *state.secrets.values(), *state.tokens]
    assert len(known) > 3
    files = [path for path in stack.folder.rglob("*") if path.is_file() and "home" not in path.parts]
    texts = [path.read_text(errors="replace") for path in files] + [stack.run("stack", "export")]
    assert any("engineering" in text for text in texts)
    for secret in known:
        assert not any(secret in text for text in texts)
