"""Which differences count: stated fields, wherever they are, and nothing that the server adds by itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from day2.drift.compare import differences, written

KEYS = st.text("abc", max_size=2)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


def found(expected: Any, live: Any) -> list[tuple[str, Any, Any]]:
    return [(written(item.path), item.expected, item.found) for item in differences(expected, live)]


@given(values)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert found(value, value) == []


@given(st.dictionaries(KEYS, values, max_size=3), values)
def test_a_field_that_was_not_stated_is_no_difference(stated: dict[str, Any], more: Any) -> None:
    assert found(stated, {**stated, "unstated": more}) == []


@given(values, values)
def test_what_differs_is_told_unless_both_are_empty(one: Any, other: Any) -> None:
    """A stated scalar that is another one is never overlooked."""
    if isinstance(one, bool | int | str) and isinstance(other, bool | int | str):
        told = found({"field": one}, {"field": other}) != []
        assert told is (type(one) is not type(other) or one != other)


@pytest.mark.parametrize(
    ("stated", "live"),
    [
        ({"a": {}}, {}),
        ({"a": None}, {}),
        ({"a": {"b": {}, "c": None}}, {}),
        ({"resources": {"requests": {"cpu": "1000m"}}}, {"resources": {"requests": {"cpu": "1"}}}),
        ({"resources": {"limits": {"memory": "1024Mi"}}}, {"resources": {"limits": {"memory": "1Gi"}}}),
        ({"ports": [{"port": 80}]}, {"ports": [{"port": 80, "protocol": "TCP", "nodePort": 3}]}),
        (
            {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
            {"env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]},
        ),
        ({"weight": 1}, {"weight": 1.0}),
    ],
)
def test_the_same_said_otherwise(stated: Any, live: Any) -> None:
    assert found(stated, live) == []


@pytest.mark.parametrize(
    ("stated", "live", "path"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "a.b"),
        ({"a": {"b": 1}}, {}, "a"),
        ({"value": "1000m"}, {"value": "1"}, "value"),
        ({"a": True}, {"a": 1}, "a"),
        ({"a": "1"}, {"a": 1}, "a"),
        ({"verbs": ["get", "list"]}, {"verbs": ["get"]}, "verbs"),
        ({"rules": [{"v": 1}, {"v": 2}]}, {"rules": [{"v": 1}, {"v": 3}]}, "rules[1].v"),
        ({"rules": [{"v": 1}]}, {"rules": [{"v": 1}, {"v": 3}]}, "rules"),
        (
            {"c": [{"name": "main", "image": "a"}]},
            {"c": [{"name": "main", "image": "b"}]},
            "c[main].image",
        ),
        ({"c": [{"name": "main"}]}, {"c": [{"name": "main"}, {"name": "side"}]}, "c[side]"),
        ({"c": [{"name": "main", "image": "a"}, {"name": "b"}]}, {"c": [{"name": "b"}]}, "c[main]"),
        (
            {"labels": {"app.kubernetes.io/name": "a"}},
            {"labels": {"app.kubernetes.io/name": "b"}},
            'labels["app.kubernetes.io/name"]',
        ),
        ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "2"}}, "requests.cpu"),
        ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "many"}}, "requests.cpu"),
    ],
)
def test_a_difference_is_named(stated: Any, live: Any, path: str) -> None:
    assert [name for name, _, _ in found(stated, live)] == [path]
