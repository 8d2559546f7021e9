"""Expectations for any capacity, deserved and limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from validation.expect import over_quota, preflight, reclaim
from validation.expect.shares import UNLIMITED, Claim, effective_limit, fair_share
from validation.settings import StackOutputs, load

OUTPUTS: dict[str, Any] = json.loads((Path(__file__).parent / "data/outputs.json").read_text())


def outputs(**changes: Any) -> StackOutputs:
    return load({**OUTPUTS, **changes})


LIMITS = st.one_of(st.just(UNLIMITED), st.integers(0, 16))
CLAIMS = st.lists(
    st.builds(
        Claim,
        name=st.text("abcdefgh", min_size=1, max_size=4),
        deserved=st.integers(0, 6),
        limit=LIMITS,
        requested=st.integers(0, 12),
        weight=st.integers(0, 3),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda claim: claim.name,
)


@pytest.mark.req("V3")
@given(st.integers(0, 24), CLAIMS)
def test_fair_shares_respect_every_bound_and_waste_nothing(capacity: int, claims: list[Claim]) -> None:
    assume(sum(c.guaranteed for c in claims) <= capacity)
    given_ = fair_share(capacity, claims)
    assert sum(given_.values()) <= capacity
    for claim in claims:
        assert claim.guaranteed <= given_[claim.name] <= claim.ceiling
        # No weight, no borrowing.
        assert claim.weight or given_[claim.name] == claim.guaranteed
    if sum(given_.values()) < capacity:
        assert all(given_[c.name] == c.ceiling or not c.weight for c in claims)


@pytest.mark.req("V3")
def test_quotas_above_the_capacity_promise_nothing() -> None:
    with pytest.raises(ValueError, match="exceed the capacity"):
        fair_share(3, [Claim("a", 2, 4, 4), Claim("b", 2, 4, 2)])


@pytest.mark.req("V3")
@pytest.mark.parametrize(
    ("capacity", "deserved", "limit", "both", "extra", "reached"),
    [
        (8, 2, 4, {"team-a": 4, "team-b": 2}, 5, True),
        (4, 1, 2, {"team-a": 2, "team-b": 1}, 3, True),
        # The capacity binds before the limit does: the claim takes one GPU back.
        (5, 2, 4, {"team-a": 3, "team-b": 2}, 5, False),
        (16, 4, 8, {"team-a": 8, "team-b": 4}, 9, True),
    ],
)
def test_over_quota_scales_with_the_capacity(
    capacity: int, deserved: int, limit: int, both: dict[str, int], extra: int, reached: bool
) -> None:
    gpu = {"deserved": deserved, "limit": limit, "overQuotaWeight": 1}
    made = over_quota.plan(*_teams(gpu), capacity)
    assert made.both == both
    assert made.firstJobs + 1 == extra
    assert made.limitReached is reached
    wanted = over_quota.expected(made)
    assert wanted["over_quota.both"]["team-a"]["ratioPercent"] == 100 * both["team-a"] / deserved
    assert ("reasons" in wanted["over_quota.limit"]) is reached


def _teams(gpu: dict[str, Any]) -> tuple[over_quota.Team, over_quota.Team]:
    changed = {
        kind: [{**entry, "gpu": gpu} if entry["gpu"]["limit"] != -1 else entry for entry in OUTPUTS[kind]]
        for kind in ("departments", "projects")
    }
    return over_quota.teams(outputs(**changed), [])


@pytest.mark.req("V3")
@given(st.integers(0, 32), st.integers(1, 8), st.integers(1, 16))
def test_a_plan_never_promises_more_than_there_is(capacity: int, deserved: int, limit: int) -> None:
    gpu = {"deserved": deserved, "limit": limit, "overQuotaWeight": 1}
    first, second = _teams(gpu)
    try:
        made = over_quota.plan(first, second, capacity)
    except ValueError:
        return
    assert sum(made.both.values()) <= capacity
    assert deserved < made.both["team-a"] <= limit
    assert made.both["team-b"] == deserved
    assert made.firstJobs >= made.both["team-a"]


@pytest.mark.req("V3")
def test_teams_by_name_and_the_ways_it_cannot_be() -> None:
    first, _ = over_quota.teams(outputs(), [("research", "team-b"), ("engineering", "team-a")])
    assert first.queue == "team-b"
    with pytest.raises(ValueError, match="'nobody' is not in the stack's outputs"):
        over_quota.teams(outputs(), [("nobody", "team-a"), ("research", "team-b")])
    free = [{**d, "gpu": {"deserved": 2, "limit": -1}} for d in OUTPUTS["departments"]]
    with pytest.raises(over_quota.ImpossibleError, match="two departments with a GPU limit"):
        over_quota.teams(outputs(departments=free), [])


@pytest.mark.req("V3")
def test_the_lower_of_both_limits_counts() -> None:
    assert effective_limit(-1, 4) == 4
    assert effective_limit(3, 4) == 3
    assert effective_limit(-1, -1) == UNLIMITED


@pytest.mark.req("V4")
@pytest.mark.parametrize(("capacity", "deserved", "evicted"), [(8, 2, 2), (4, 1, 1), (2, 1, 1), (16, 4, 4)])
def test_reclaim_scales_with_the_capacity(capacity: int, deserved: int, evicted: int) -> None:
    made = reclaim.plan(capacity)
    assert (made.deserved, made.evicted) == (deserved, evicted)


@pytest.mark.req("V4")
@given(st.integers(0, 64), st.integers(0, 8))
def test_reclaim_fills_the_capacity_and_takes_no_protected_pod(capacity: int, deserved: int) -> None:
    try:
        made = reclaim.plan(capacity, deserved)
    except ValueError as error:
        assert "free GPUs" in str(error)  # noqa: PT017
        return
    assert made.protected + made.preemptible == capacity
    assert made.evicted <= made.preemptible
    # What is left to the victim is at least its own quota.
    assert capacity - made.evicted >= made.deserved


@pytest.mark.req("V1")
def test_preflight_expects_what_the_outputs_promise() -> None:
    live = {"apiAddress": "10.96.0.1", "gpuNodes": ["w"], "labelledGpus": {"w": 8}}
    wanted = preflight.expected(outputs(), live, "restricted", 10, 30, 1, "word")
    assert wanted["preflight.gpu_count"] == {
        "allocatable": {"exactly": {"runai-kit-worker": 4, "runai-kit-worker2": 4}}
    }
    assert wanted["preflight.queues"]["team-a"]["parent"] == "engineering"
    assert wanted["preflight.versions"]["kai-scheduler"] == "0.12.0"
    without = preflight.expected(outputs(expectedGpus={}), live, "restricted", 10, 30, 1, "word")
    assert without["preflight.gpu_count"]["allocatable"] == {"exactly": {"w": 8}}
