"""The CLI's words beside what driver `runai` states: as the guide and the CLI's reference have them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from validation.runai import cli, page

Json = dict[str, Any]


def item(**changes: Any) -> Json:
    return {
        "name": "runai-kit-a",
        "kind": "training",
        "project": "team-a",
        "namespace": "runai-team-a",
        "image": "registry.test/cuda:1",
        "command": ["bash", "-c", "nvidia-smi -L; sleep 600"],
        **changes,
    }


def words(command: str) -> list[str]:
    return shlex.split(command)


def flag(command: str, name: str) -> list[str]:
    """Values of a flag, in their order."""
    found = words(command)
    return [found[place + 1] for place, word in enumerate(found) if word == name]


@pytest.mark.req("V13", "V2")
def test_half_a_gpu_is_a_portion_of_one_device() -> None:
    (line,) = cli.submit(item(gpuFraction=0.5))
    assert words(line)[:6] == ["runai", "training", "standard", "submit", "runai-kit-a", "-p"]
    assert (flag(line, "-g"), flag(line, "--gpu-portion-request")) == (["1"], ["0.5"])
    assert flag(line, "--preemptibility") == ["preemptible"]
    # Everything after the two dashes is the command itself.
    assert words(line)[words(line).index("--") :] == ["--", "bash", "-c", "nvidia-smi -L; sleep 600"]


@pytest.mark.req("V13", "V7")
def test_a_training_with_files_makes_them_first() -> None:
    asked = item(gpus=1, largeShm=True, files={"train.py": ""}, pvcs=[{"name": "data", "path": "/data"}])
    files, line = cli.submit(asked)
    assert files == "kubectl create configmap runai-kit-a -n runai-team-a --from-file=train.py"
    assert "--large-shm" in words(line)
    assert flag(line, "--configmap-map-volume") == ["name=runai-kit-a,path=/opt/runai-kit"]
    assert flag(line, "--existing-pvc") == ["claimname=data,path=/data"]


@pytest.mark.req("V13", "V6")
def test_the_token_of_a_workspace_is_in_no_word() -> None:
    secret, line = cli.submit(item(kind="workspace", gpus=1, cpu="100m", memory="4Gi"))
    assert secret.endswith("--from-file=token=/dev/stdin")
    assert flag(line, "--external-url") == ["container=8888"]
    assert flag(line, "--secret-volume") == ["path=/run/runai-kit,name=runai-kit-a-token"]
    assert flag(line, "--cpu-core-request") == ["0.1"]
    assert flag(line, "--preemptibility") == ["non-preemptible"]


@pytest.mark.req("V13", "V5")
def test_an_inference_states_port_replicas_and_time_and_what_cannot_be_said() -> None:
    asked = item(kind="inference", gpus=1, minReplicas=0, maxReplicas=1, windowSeconds=20)
    line, remark = cli.submit({**asked, "initializationTimeoutSeconds": 900})
    found = [flag(line, f"--{name}") for name in ("serving-port", "min-replicas", "max-replicas")]
    assert found == [["8000"], ["0"], ["1"]]
    assert flag(line, "--initialization-timeout-seconds") == ["900"]
    assert remark == "# runai-kit-a: the CLI has no flag for windowSeconds; driver runai states it"


@pytest.mark.req("V13")
def test_looking_and_removing_say_kind_and_project() -> None:
    bare = {"name": "runai-kit-a", "project": "team-a"}
    things = [bare, item(name="runai-kit-b"), item(name="runai-kit-llm", kind="inference")]
    assert cli.look(things)[:2] == [
        "runai training standard list -p team-a",
        "runai inference list -p team-a",
    ]
    assert "runai inference describe runai-kit-llm -p team-a" in cli.look(things)
    assert cli.delete(things)[0] == "runai training standard delete runai-kit-a -p team-a"


@pytest.mark.req("V13")
def test_the_page_keeps_the_order_and_says_nothing_twice(tmp_path: Path) -> None:
    page.add(tmp_path, ["login"], ["one", "two\nlines"])
    file = page.add(tmp_path, ["login"], ["one", "three"])
    assert file.read_text() == "login\none\ntwo\nlines\nthree\n"
