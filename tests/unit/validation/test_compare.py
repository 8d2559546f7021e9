"""The comparison that every verdict comes from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validation.compare import differences

pytestmark = pytest.mark.req("V12")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON)
def test_everything_meets_itself(value: Any) -> None:
    assert differences(value, value) == []


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(), min_size=1, max_size=4), st.data())
def test_any_changed_number_is_a_difference(value: dict[str, int], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(value)))
    assert differences(value, {**value, key: value[key] + 1}) != []
    assert differences(value, {k: v for k, v in value.items() if k != key}) != []


def test_what_else_was_observed_is_information() -> None:
    assert differences({"a": 1}, {"a": 1, "b": 2}) == []


@pytest.mark.parametrize(
    ("expected", "good", "bad"),
    [
        ({"atLeast": 2}, 2, 1),
        ({"atMost": 2}, 2, 3),
        ({"oneOf": ["x", "y"]}, "y", "z"),
        ({"matches": "^v1"}, "v1.34", "v2"),
        ({"contains": "OverLimit"}, ["OverLimit"], ["Unschedulable"]),
        ({"exactly": {"n": 4}}, {"n": 4}, {"n": 4, "m": 4}),
        ({"atLeast": 1}, 1, None),
        ({"atLeast": 1}, 1, "1"),
        ({}, {}, {"left": 1}),
        ([], [], ["pod"]),
        (True, True, 1),
        (0, 0, False),
        ({"sub": {"a": 1}}, {"sub": {"a": 1}}, {"sub": None}),
    ],
)
def test_matchers_in_both_directions(expected: Any, good: Any, bad: Any) -> None:
    assert differences({"k": expected}, {"k": good}) == []
    assert differences({"k": expected}, {"k": bad}) != []


def test_a_difference_names_the_place_and_both_values() -> None:
    (line,) = differences({"team-a": {"projectAllocated": 4}}, {"team-a": {"projectAllocated": 3}})
    assert line == "team-a.projectAllocated: expected 4, found 3"


def test_an_exact_mapping_names_the_keys_that_differ() -> None:
    told = differences({"n": {"exactly": {"a": 4, "b": 4, "d": 1}}}, {"n": {"a": 3, "b": 4, "c": 1}})
    assert told == [
        "n.a: expected 4, found 3",
        "n.d: expected 1, found nothing",
        "n.c: expected nothing, found 1",
    ]
