"""A run in parts: in which order, what is lent and given back, and what it does when nothing can be lent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.unit.validation import runs
from validation import cleanup, declared
from validation.chains import pool, run
from validation.chains.processes import Part
from validation.chains.schedule import POOL, Schedule, part, plan
from validation.cluster import ClusterError
from validation.expect.nodes import GpuNode
from validation.records import Records
from validation.settings import load

Json = dict[str, Any]
TESTS = ["preflight", "over_quota", "fallbacks", "mnist_training"]
pytestmark = pytest.mark.req("V12")


@dataclass
class Stage:
    """What happened, in order; `work` is what the playbooks do, by name of their part."""

    report: Path
    happened: list[str] = field(default_factory=list)
    parts: dict[str, Part] = field(default_factory=dict)
    seen: dict[str, Json] = field(default_factory=dict)
    work: Callable[[str], int] = lambda _name: 0

    def play(self, parts: list[Part], _inventory: Path, _root: Path) -> dict[str, int]:
        self.happened.append("+".join(each.name for each in parts))
        for each in parts:
            self.parts[each.name] = each
            self.seen[each.name] = json.loads(Path(each.environment["KIT_OUTPUTS_FILE"]).read_text())
            if each.variables.get("kit_part") == "begin":
                runs.started(self.report.parent)
        return {each.name: self.work(each.name) for each in parts}

    def give_back(self, *_: object) -> list[str]:
        self.happened.append("give back")
        return []


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(tmp_path / "report")
    monkeypatch.setattr(run, "play", made.play)
    monkeypatch.setattr(run, "Cluster", lambda *_: object())
    monkeypatch.setattr(pool, "lend", lambda *_: made.happened.append("lend"))
    monkeypatch.setattr(pool, "give_back", made.give_back)
    monkeypatch.setattr(cleanup, "remove", lambda _c, _n, test: made.happened.append(f"remove {test}"))
    return made


def started(stage: Stage) -> tuple[run.Run, Schedule]:
    outputs = load(runs.OUTPUTS)
    nodes = [GpuNode(f"w{n}", f"h{n}", 4, 4) for n in (1, 2)]
    said = run.Run(stage.report.parent, Path("inventory/local"), stage.report, outputs, lambda _line: None)
    return said, plan(outputs, part(nodes, 0), TESTS)


def preflight(records: Records, but: str = "") -> None:
    for check in declared.tests()["preflight"].checks:
        records.record(check.id, "fail" if check.id == but else "pass", 1, 1, 1, "because" if but else "")


def passing(stage: Stage, but: str = "") -> Callable[[str], int]:
    def work(name: str) -> int:
        if name == "alone":
            preflight(Records(stage.report), but)
        return 0

    return work


def test_alone_then_beside_then_the_report(stage: Stage) -> None:
    stage.work = passing(stage)
    made, schedule = started(stage)
    assert made.play(schedule) == 0
    assert stage.happened == ["alone", "lend", "gpu+cpu", "give back", "report"]
    assert stage.parts["alone"].variables["kit_tests"] == [
        "preflight",
        "over_quota",
        "fallbacks",
        "mnist_training",
    ]
    assert stage.seen["gpu"]["validation"]["nodePool"] == POOL
    assert stage.seen["cpu"]["validation"]["nodePool"] == ""
    told = Records(stage.report).run()
    assert told["chains"]["fallbacks"] == "gpu"
    assert told["chains"]["over_quota"] == "alone"
    assert not (stage.report / "chains").exists(), "outputs are not a part of the report"


def test_where_nothing_can_be_lent_tests_run_one_after_another(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ClusterError("node w2 is in use by others now, or gone")

    stage.work = passing(stage)
    monkeypatch.setattr(pool, "lend", refuse)
    made, schedule = started(stage)
    assert made.play(schedule) == 0
    assert stage.happened == ["alone", "give back", "rest", "report"]
    assert stage.parts["rest"].tests == ("fallbacks", "mnist_training")
    assert Records(stage.report).run()["chainsNote"] == "No chains: node w2 is in use by others now, or gone."
    assert Records(stage.report).run()["chains"] == {}


@pytest.mark.parametrize("check", ["preflight.blast_radius", "preflight.leftovers"])
def test_what_preflight_refuses_is_lent_no_nodes_and_takes_none_from_another_run(
    check: str, stage: Stage
) -> None:
    stage.work = passing(stage, check)
    made, schedule = started(stage)
    made.play(schedule)
    assert stage.happened == ["alone", "rest", "report"]
    assert "preflight refused the tests" in Records(stage.report).run()["chainsNote"]


def test_a_chain_that_ended_early_is_cleaned_up_and_fails_the_run(stage: Stage) -> None:
    def work(name: str) -> int:
        passing(stage)(name)
        if name == "cpu":
            Records(stage.report).open("mnist_training")
            return -9
        return 0

    stage.work = work
    made, schedule = started(stage)
    assert made.play(schedule) == -9
    assert stage.happened == ["alone", "lend", "gpu+cpu", "remove mnist_training", "give back", "report"]


def test_nodes_come_back_when_the_run_is_stopped(stage: Stage) -> None:
    def work(name: str) -> int:
        passing(stage)(name)
        if name == "gpu":
            raise KeyboardInterrupt
        return 0

    stage.work = work
    made, schedule = started(stage)
    with pytest.raises(KeyboardInterrupt):
        made.play(schedule)
    assert stage.happened[-1] == "give back"


def test_a_run_that_did_not_begin_ends_there(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "play", lambda parts, *_: {parts[0].name: 4})
    made, schedule = started(stage)
    assert made.play(schedule) == 4
    assert stage.happened == []
