"""Nobody outside the suite loses a pod, at any moment of a run; and somebody watched until its end."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from tests.unit.validation import runs
from tests.unit.validation.double import queue
from validation import names, sampler, timeline, whole_run
from validation.cluster import Cluster, ClusterError
from validation.compare import differences
from validation.records import Records
from validation.report.aggregate import aggregate

pytestmark = pytest.mark.req("V4")
Json = dict[str, Any]
OWN, FOREIGN = "runai-team-a/pg-runai-kit-train-1", "runai-team-a/pg-theirs-1"


def event(group: str, uid: str, count: int = 1) -> Json:
    namespace, _, name = group.partition("/")
    target = {"namespace": namespace, "name": name}
    return {"metadata": {"uid": uid}, "involvedObject": target, "count": count, "message": "evicted"}


class Evicting:
    """A cluster where one more answer about events is given each time; the last one for ever."""

    def __init__(self, *answers: list[Json] | None) -> None:
        self.answers = list(answers)

    def items(self, path: str, **_: Any) -> list[Json]:
        if path != names.EVENTS:
            return [queue("team-a")]
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            raise ClusterError("no answer")
        return answer

    def watch(self, _path: str, _seconds: float, **_: Any) -> Any:
        threading.Event().wait(0.02)
        yield from ()


def sampled(folder: Path, cluster: Evicting, monkeypatch: pytest.MonkeyPatch) -> Records:
    """A run of the sampler beside a run of every test."""
    monkeypatch.setattr(sampler, "EVICTION_SECONDS", 0.05)
    records = runs.started(folder)
    runs.everything(records)
    stop = folder / "stop"
    threading.Timer(0.6, stop.touch).start()
    out = records.root / timeline.FILE
    sampler.run(cast(Cluster, cluster), out, stop, os.getpid(), 20, 0.05, "q")
    return records


def faults(records: Records) -> list[str]:
    return list(
        differences(whole_run.expected()[whole_run.CHECK], whole_run.observed(records)[whole_run.CHECK])
    )


def test_the_suites_own_evictions_are_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = event(FOREIGN, "before the run")
    cluster = Evicting([old], [old, event(OWN, "1")], [old, event(OWN, "1", 2)])
    records = sampled(tmp_path, cluster, monkeypatch)
    assert faults(records) == []
    assert whole_run.observed(records)[whole_run.CHECK]["evictionsOfTheSuite"] == 2


def test_a_foreign_one_is_found_though_its_event_is_gone_when_the_run_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = sampled(tmp_path, Evicting([], [event(FOREIGN, "1")], []), monkeypatch)
    assert whole_run.observed(records)[whole_run.CHECK]["evicted"] == [FOREIGN]
    assert faults(records)


def test_one_that_was_repeated_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = sampled(tmp_path, Evicting([event(FOREIGN, "1")], [event(FOREIGN, "1", 2)]), monkeypatch)
    assert whole_run.observed(records)[whole_run.CHECK]["evicted"] == [FOREIGN]


@pytest.mark.parametrize("answers", [[None], [[], None]])
def test_without_an_answer_at_the_end_it_was_not_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[list[Json] | None]
) -> None:
    assert any("watched" in fault for fault in faults(sampled(tmp_path, Evicting(*answers), monkeypatch)))


def test_a_sampler_that_was_killed_did_not_watch(tmp_path: Path) -> None:
    records = runs.started(tmp_path)
    runs.everything(records)
    assert any("watched" in fault for fault in faults(records)), "there is no file at all"
    (records.root / timeline.FILE).write_text(json.dumps({"kind": "sample", "t": 1, "gpus": {}}) + "\n")
    assert any("watched" in fault for fault in faults(records))


def test_pods_that_nobody_watched_to_the_end_are_a_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Evicting):
        def watch(self, _path: str, _seconds: float, **_: Any) -> Any:
            raise KeyError("what nobody expected")

    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    assert faults(sampled(tmp_path, Broken([]), monkeypatch)) == ["podsWatched: expected True, found False"]


def test_it_is_not_awaited_by_preflight_and_adds_nothing_to_its_time(tmp_path: Path) -> None:
    records = runs.started(tmp_path)
    assert whole_run.CHECK not in records.missing("preflight")
    runs.everything(records)
    before = next(t for t in aggregate(records, {}).tests if t.name == "preflight")
    entry = json.loads((records.checks / f"{whole_run.CHECK}.json").read_text())
    entry["at"] = "2030-01-01T00:00:00.000Z"
    (records.checks / f"{whole_run.CHECK}.json").write_text(json.dumps(entry))
    assert next(t for t in aggregate(records, {}).tests if t.name == "preflight") == before
