"""The wait for KAI: conditions of the newest Config, bounded, with the operator's own words."""

from __future__ import annotations

import asyncio
import json

import pytest

from components.kai.gate import CONDITIONS, WAIT_FOR, KaiGate, SchedulerError, unmet
from tests.stack import FakeCluster, kai_config


class Clock:
    """Moves by a second whenever it is read."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def gate(configs: list[dict[str, object] | None], said: list[str], timeout: float = 60) -> KaiGate:
    return KaiGate(FakeCluster(configs=configs), timeout, 0, said.append, Clock())


@pytest.mark.req("I2")
def test_it_opens_only_when_the_conditions_are_about_the_newest_config() -> None:
    said: list[str] = []
    sequence = [None, kai_config(1, 1, "False"), kai_config(2, 1), kai_config(2, 2)]
    assert asyncio.run(gate(list(sequence), said).ready(["default"], preview=False)) is True
    assert said == [
        "waiting for KAI: kai-config: no such object",
        "waiting for KAI: kai-config: Deployed is False (because); kai-config: Available is False (because)",
        "waiting for KAI: kai-config: Deployed of generation 1, now 2; "
        "kai-config: Available of generation 1, now 2",
    ]


@pytest.mark.req("I2")
def test_it_gives_up_with_the_operators_message() -> None:
    with pytest.raises(
        SchedulerError,
        match=r"found kai-config: Deployed is False \(because\).* after 3 s; expected Deployed and",
    ):
        asyncio.run(gate([kai_config(1, 1, "False")], [], 3).ready(["default"], preview=False))


def test_a_preview_does_not_ask() -> None:
    assert asyncio.run(gate([None], []).ready(["default"], preview=True)) is True


def test_a_condition_that_is_not_reported_counts_as_unmet() -> None:
    assert unmet({"metadata": {"generation": 1}}) == [f"{name} not reported" for name in CONDITIONS]
    assert unmet(kai_config(1, 1)) == []


def test_the_provider_is_told_to_wait_for_the_same_conditions() -> None:
    expressions = json.loads(WAIT_FOR)
    assert expressions == [
        f'jsonpath={{.status.conditions[?(@.type=="{name}")].status}}=True' for name in CONDITIONS
    ]


@pytest.mark.req("I2")
def test_a_scheduler_that_is_not_there_yet_counts() -> None:
    waiting = gate([kai_config(1, 1)], [], 3)
    waiting.cluster.shards = {"a100": kai_config(2, 1)}  # type: ignore[attr-defined]
    with pytest.raises(SchedulerError, match="found a100: Deployed of generation 1, now 2"):
        asyncio.run(waiting.ready(["default", "a100"], preview=False))
