"""Inventory plugin, filters and actions, run by Ansible itself."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from validation import declared

ROOT = Path(__file__).parents[3]
DATA = Path(__file__).parent / "data/outputs.json"
Json = dict[str, Any]


def ansible(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "ANSIBLE_NOCOLOR": "1", "KIT_OUTPUTS_FILE": str(DATA), **environment}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def hostvars() -> Json:
    done = ansible("ansible-inventory", "-i", "inventory/local", "--host", "local")
    assert done.returncode == 0, done.stderr
    found: Json = json.loads(done.stdout)
    return found


@pytest.mark.req("E3")
def test_the_inventory_is_one_local_host_with_the_outputs(hostvars: Json) -> None:
    assert hostvars["ansible_connection"] == "local"
    assert hostvars["kit"]["context"] == "kind-runai-kit"
    assert [p["name"] for p in hostvars["kit"]["projects"]] == ["team-a", "team-b", "test"]


@pytest.mark.req("V1")
@pytest.mark.parametrize("environment", ["local", "kind", "vks-modular"])
def test_every_environment_declares_na_with_reasons_for_checks_that_exist(environment: str) -> None:
    known = set(declared.checks()) | {n for t in declared.tests().values() for n in t.names()}
    variables = yaml.safe_load((ROOT / "inventory" / environment / "group_vars/clusters.yml").read_text())
    assert set(variables["kit_not_applicable"]) <= known
    assert all(len(reason) > 20 for reason in variables["kit_not_applicable"].values())


@pytest.mark.req("V1")
def test_declarations_reach_the_host(hostvars: Json) -> None:
    assert "preflight.ingress_class" in hostvars["kit_not_applicable"]


@pytest.mark.req("E3")
@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (None, "does not exist"),
        ("{}", "has no outputs"),
        ('{"environment": "local"}', "context: Field required"),
    ],
)
def test_an_inventory_that_cannot_be_read_is_one_clear_error(
    tmp_path: Path, outputs: str | None, message: str
) -> None:
    path = tmp_path / "outputs.json"
    if outputs is not None:
        path.write_text(outputs)
    done = ansible("ansible-inventory", "-i", "inventory/local", "--list", KIT_OUTPUTS_FILE=str(path))
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.req("V3", "V4")
def test_filters_explain_what_is_impossible(tmp_path: Path) -> None:
    play = tmp_path / "play.yml"
    play.write_text(
        "- hosts: clusters\n  gather_facts: false\n  tasks:\n"
        '    - ansible.builtin.debug: {msg: "{{ 8 | kit_plan_reclaim(60) }}"}\n'
        '    - ansible.builtin.debug: {msg: "{{ (kit | kit_plan_over_quota(moment)).both }}"}\n'
        "      vars: {moment: {freeGpus: 8, scarce: true}}\n"
        '    - ansible.builtin.debug: {msg: "{{ 1 | kit_plan_reclaim(60) }}"}\n'
    )
    done = ansible("ansible-playbook", "-i", "inventory/local", str(play))
    assert done.returncode != 0
    assert "evicted: 2" in done.stdout
    assert "team-a: 4" in done.stdout
    assert "reclaim needs 2 free GPUs for a deserved of 1, found 1" in done.stdout + done.stderr
