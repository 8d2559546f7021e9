"""Comparing what is wanted with what is there: nothing to do twice, and exactly the keys that changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.remote import AT, RemoteProvider, changes
from components.runai.objects import KINDS
from components.runai.objects.quotas import from_api, names, to_api

AMOUNT = st.one_of(st.integers(0, 4096), st.sampled_from([0.25, 0.5, 1.5]))
QUOTA = st.fixed_dictionaries(
    {
        "nodePool": st.sampled_from(["default", "a100", "h100", "l4"]),
        "deserved": AMOUNT,
        "limit": st.one_of(st.just(-1), AMOUNT),
        "overQuotaWeight": st.one_of(st.integers(0, 9), st.just(0.5)),
    }
)
QUOTAS = st.lists(QUOTA, min_size=1, unique_by=lambda quota: str(quota["nodePool"]))
PLACE = {"url": "https://runai.test", "ca": ""}


@pytest.mark.req("I14")
@given(QUOTAS)
def test_quotas_come_back_from_the_api_as_they_were(quotas: list[dict[str, Any]]) -> None:
    ids = {name: f"id-{name}" for name in names(quotas)}
    told = json.loads(json.dumps(to_api(quotas, ids)))
    assert from_api(told, names(quotas)) == sorted(quotas, key=lambda quota: str(quota["nodePool"]))


@pytest.mark.req("I14")
@given(QUOTAS)
def test_a_pool_that_nobody_asked_for_shows_when_it_is_given_something(quotas: list[dict[str, Any]]) -> None:
    asked = names(quotas)[:1]
    told = to_api(quotas, {name: f"id-{name}" for name in names(quotas)})
    seen = {quota["nodePool"] for quota in from_api(told, asked)}
    assert seen == {*asked, *(quota["nodePool"] for quota in quotas if quota["deserved"])}


WANTED = st.fixed_dictionaries(
    {
        "clusterId": st.text(min_size=1, max_size=4),
        "name": st.text(min_size=1, max_size=4),
        "departmentId": st.text(min_size=1, max_size=4),
        "namespace": st.text(min_size=1, max_size=4),
        "quotas": QUOTAS,
    }
)


@pytest.mark.req("I14")
@given(WANTED)
def test_what_was_just_made_needs_no_change(wanted: dict[str, Any]) -> None:
    state = {**wanted, "before": {}, AT: PLACE, "__provider": "x"}
    result = RemoteProvider("Project").diff("id", state, {**wanted, AT: PLACE, "__provider": "y"})
    assert (result.changes, result.replaces) == (False, [])


@pytest.mark.req("I14")
@given(WANTED, WANTED)
def test_a_change_is_told_by_its_keys(old: dict[str, Any], new: dict[str, Any]) -> None:
    differing = sorted(key for key in new if old[key] != new[key])
    state = {**old, "before": {}, AT: PLACE}
    assert changes(state, {**new, AT: PLACE}) == differing
    result = RemoteProvider("Project").diff("id", state, {**new, AT: PLACE})
    assert result.changes == bool(differing)
    assert result.replaces == [key for key in differing if key in KINDS["Project"].replaced_by]


@pytest.mark.req("I14")
def test_another_ca_is_no_other_object_and_another_address_is() -> None:
    wanted = {"name": "x", "clusterId": "c", "quotas": []}
    provider = RemoteProvider("Department")
    state = {**wanted, AT: PLACE}
    other_ca = provider.diff("id", state, {**wanted, AT: PLACE | {"ca": "new"}})
    assert (other_ca.changes, other_ca.replaces) == (True, [])
    moved = provider.diff("id", state, {**wanted, AT: PLACE | {"url": "https://other.test"}})
    assert (moved.changes, moved.replaces) == (True, [AT])
