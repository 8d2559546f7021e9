"""Shares of the capacity: rounding, bounds, sums. Property tests where the rule has a space."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.config.org import GpuQuota
from components.config.types import UNLIMITED, GpuAmount, parse_gpu_amount
from components.shares import ShareError, exceeds, resolve, resolve_all, resolve_quota
from tests.stack import LOCAL, changed, settings

capacities = st.integers(min_value=1, max_value=10_000)
percents = st.integers(min_value=1, max_value=100)


@pytest.mark.req("I3")
@pytest.mark.parametrize(
    ("text", "capacity", "devices"),
    [
        ("25%", 8, 2),
        ("50%", 8, 4),
        ("25%", 4, 1),
        ("50%", 4, 2),
        ("25%", 1, 1),
        ("33%", 8, 2),
        ("7%", 100, 7),
        ("0%", 8, 0),
        ("12.5%", 8, 1),
    ],
)
def test_a_share_is_rounded_down_but_never_to_nothing(text: str, capacity: int, devices: int) -> None:
    assert resolve(parse_gpu_amount(text), capacity, "x") == devices


@pytest.mark.req("I3")
@given(percent=percents, capacity=capacities)
def test_a_share_is_whole_and_within_the_capacity(percent: int, capacity: int) -> None:
    devices = resolve(GpuAmount(percent=float(percent)), capacity, "x")
    assert devices == max(1, capacity * percent // 100)
    assert 1 <= devices <= capacity


@pytest.mark.req("I3")
@given(low=percents, high=percents, capacity=capacities)
def test_a_larger_share_is_never_less(low: int, high: int, capacity: int) -> None:
    low, high = sorted((low, high))
    assert resolve(GpuAmount(percent=float(low)), capacity, "x") <= resolve(
        GpuAmount(percent=float(high)), capacity, "x"
    )


@pytest.mark.req("I3")
@given(
    parts=st.lists(percents, min_size=1, max_size=8).filter(lambda parts: sum(parts) <= 100),
    capacity=capacities,
)
def test_shares_of_at_most_all_fit_but_for_those_lifted_to_one(parts: list[int], capacity: int) -> None:
    devices = [resolve(GpuAmount(percent=float(part)), capacity, "x") for part in parts]
    lifted = sum(1 for part in parts if capacity * part < 100)
    assert sum(devices) <= capacity + lifted


@given(st.one_of(st.integers(min_value=0, max_value=10**6), st.floats(min_value=0, max_value=1e6)))
def test_a_number_stays_what_it_is(number: float) -> None:
    amount = parse_gpu_amount(number)
    assert resolve(amount, 0, "x") == number
    assert not amount.unlimited


@given(st.one_of(st.text(), st.booleans(), st.none(), st.floats(max_value=-0.001).filter(lambda x: x != -1)))
def test_anything_else_is_refused(value: object) -> None:
    if isinstance(value, str) and value.endswith("%") and value[:-1].isdigit():
        return
    with pytest.raises(ValueError, match="a number of GPUs, -1 for unlimited"):
        parse_gpu_amount(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, "1e1%", "-5%", "25 %", "100.1%", "²%"])
def test_near_misses_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="share of the capacity"):
        parse_gpu_amount(value)


def test_a_share_of_no_gpus_is_an_error_that_says_so() -> None:
    with pytest.raises(ShareError, match=r"runai-kit:departments\[0\].gpu.deserved: found 25% of 0 GPUs"):
        resolve_all(settings(LOCAL), {"": 0})


def test_mixed_units_are_compared_once_the_capacity_is_known() -> None:
    quota = GpuQuota.model_validate({"deserved": 3, "limit": "25%"})
    assert resolve_quota(quota, 12, "x").limit == 3
    with pytest.raises(ShareError, match=r"found 3 = 3 of 8 GPUs; expected at most the limit 25% = 2"):
        resolve_quota(quota, 8, "x")


def test_a_project_above_its_department_is_refused_once_known() -> None:
    values = changed(LOCAL, "departments.0.projects.0.gpu", {"deserved": 1, "limit": 3})
    assert resolve_all(settings(values), {"": 8}).quotas["team-a"].limit == 3
    with pytest.raises(
        ShareError, match=r"projects\[0\].gpu.limit: found 3 = 3 of 4 GPUs.*department engineering"
    ):
        resolve_all(settings(values), {"": 4})


def test_promising_more_than_there_is_is_a_warning() -> None:
    resolved = resolve_all(settings(LOCAL), {"": 8})
    assert resolved.warnings == ()
    values = changed(LOCAL, "departments.1.projects.0.gpu.deserved", 7)
    (warning,) = resolve_all(settings(values), {"": 8}).warnings
    assert "9 GPUs are deserved in the cluster, which has 8" in warning


def test_shares_are_of_the_departments_own_pool() -> None:
    values = changed(LOCAL, "nodePools", {"pools": [{"name": "big"}]})
    values = changed(values, "departments.0.nodePool", "big")
    quotas = resolve_all(settings(values), {"": 4, "big": 16}).quotas
    assert (quotas["engineering"].deserved, quotas["team-a"].limit) == (4, 8)


@pytest.mark.parametrize(
    ("value", "bound", "answer"),
    [(1, 2, False), (2, 2, False), (3, 2, True), (UNLIMITED, 2, True), (9, UNLIMITED, False)],
)
def test_unlimited_counts_as_more_than_any_number(value: float, bound: float, answer: bool) -> None:
    assert exceeds(value, bound) is answer
