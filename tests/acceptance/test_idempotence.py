"""A second run changes nothing: neither the roles' files, nor any object of the cluster."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.acceptance import inventory, leftovers
from tests.acceptance.conftest import ROOT, Json
from validation.settings import StackOutputs

# The tests whose objects are looked for afterwards, as `--tags` has them; KIT_INVENTORY_TAGS names others.
TAGS = os.environ.get("KIT_INVENTORY_TAGS", "V2,V3,V4,V10")


def play(outputs: StackOutputs, playbook: str, folder: Path, tags: str = "all") -> Json:
    """One playbook, as its JSON tells it; it has to succeed."""
    command = ["ansible-playbook", "-i", f"inventory/{outputs.environment}", f"validation/{playbook}.yml"]
    options = ["-e", f"kit_report_dir={folder}", "--tags", tags]
    environment = {**os.environ, "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"}
    done = subprocess.run(
        [*command, *options], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    # The profile of times comes after it.
    data: Json = json.JSONDecoder().raw_decode(done.stdout, done.stdout.index("{"))[0]
    return data


def changed(told: Json, role: str) -> list[str]:
    """Tasks of a role that changed something."""
    tasks = [task for play in told["plays"] for task in play["tasks"]]
    mine = [task for task in tasks if task["task"]["name"].startswith(f"{role} : ")]
    assert mine, f"no task of role {role} ran"
    return [
        task["task"]["name"] for task in mine if any(host.get("changed") for host in task["hosts"].values())
    ]


@pytest.mark.req("I14", "V1")
def test_preflight_and_report_change_nothing_the_second_time(outputs: StackOutputs, tmp_path: Path) -> None:
    play(outputs, "preflight", tmp_path)
    assert changed(play(outputs, "preflight", tmp_path), "preflight") == []
    # Of the same run the report is the same, to the last byte.
    play(outputs, "report", tmp_path)
    again = play(outputs, "report", tmp_path)
    assert changed(again, "report") == []
    assert {host: counts["changed"] for host, counts in again["stats"].items()} == {outputs.environment: 0}


@pytest.mark.req("V11")
def test_the_tests_leave_every_object_of_the_cluster_as_it_was(outputs: StackOutputs, tmp_path: Path) -> None:
    cluster = leftovers.cluster_of(outputs)
    homes = [namespace.name for namespace in outputs.namespaces]
    before = inventory.snapshot(cluster)
    play(outputs, "site", tmp_path, TAGS)
    assert len(before) > 300
    assert inventory.settled(cluster, before, homes) == []
