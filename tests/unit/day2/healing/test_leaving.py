"""Namespaces on their way out, and those that the state tells of and nobody has."""

from __future__ import annotations

from pathlib import Path

import pytest

from day2.healing import namespaces
from day2.healing.command import HealError
from day2.healing.heal import heal
from tests.unit.day2.healing.told import Api, namespace, pulumi

pytestmark = pytest.mark.req("I14")
TYPE = "kubernetes:core/v1:Namespace"
STATE = {
    "resources": [
        {
            "urn": f"urn:pulumi:local::runai-kit::{TYPE}::serving",
            "type": TYPE,
            "inputs": {"metadata": {"name": "serving"}},
        }
    ]
}


def test_one_that_is_being_deleted_is_waited_for_and_the_stack_refreshed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    told = pulumi(tmp_path, STATE)
    leaving = namespace("serving", leaving="pods. has 1 resource instances")
    api = Api(namespaces=[[leaving], [leaving], [namespace("default", ours=False)]])
    assert heal(told, "runai-kit", api.cluster)
    assert told.changes == ["refresh"]
    said = capsys.readouterr().err
    assert said.count("namespaces serving: being deleted, waiting") == 1
    assert "namespace serving: the stack has it and the cluster has not" in said


def test_one_that_is_held_is_named_with_what_holds_it(tmp_path: Path) -> None:
    api = Api(namespaces=[[namespace("serving", leaving="pods. has 1 resource instances")]])
    with pytest.raises(HealError, match=r"serving still being deleted after 0.1 s .*pods. has 1 resource"):
        namespaces.missing(api.cluster(), STATE, patience=0.1, pause=0.02)


def test_one_of_others_that_the_stack_labels_is_missed_too() -> None:
    patch = {**STATE["resources"][0], "type": f"{TYPE}Patch"}
    api = Api(namespaces=[[namespace("default", ours=False)]])
    assert namespaces.missing(api.cluster(), {"resources": [patch]}, patience=0.1, pause=0.02)


def test_those_of_others_are_not_waited_for(tmp_path: Path) -> None:
    theirs = namespace("theirs", ours=False, leaving="something")
    api = Api(namespaces=[[theirs, namespace("serving")]])
    assert not namespaces.missing(api.cluster(), STATE, patience=0.1, pause=0.02)


def test_one_that_is_there_and_stays_needs_nothing(tmp_path: Path) -> None:
    told = pulumi(tmp_path, STATE)
    assert not heal(told, "runai-kit", Api(namespaces=[[namespace("serving")]]).cluster)
    assert told.changes == []
