"""Objects without bulk and without what users wrote into their own."""

from __future__ import annotations

from typing import Any

import pytest

from day2.bundle import trim
from validation.redact import GONE, LAST_APPLIED

pytestmark = pytest.mark.req("I14")
OBJECT: dict[str, Any] = {
    "metadata": {
        "name": "a",
        "managedFields": [1],
        "annotations": {LAST_APPLIED: "{}", "example.com/x": "mine", "kai.scheduler/queue": "team-a"},
    },
    "spec": {
        "template": {
            "spec": {"containers": [{"env": [{"name": "A", "value": "b"}, {"name": "C", "valueFrom": {}}]}]}
        }
    },
    "data": {"long": "x" * 5000},
}


def test_of_the_kits_own_objects_only_bulk_goes() -> None:
    found = trim.object_(OBJECT, users=False)
    assert "managedFields" not in found["metadata"]
    assert found["metadata"]["annotations"] == {"example.com/x": "mine", "kai.scheduler/queue": "team-a"}
    assert found["spec"] == OBJECT["spec"]
    assert found["data"]["long"].endswith("(5000 characters)")


def test_of_users_objects_values_of_variables_and_strange_annotations_go() -> None:
    found = trim.object_(OBJECT, users=True)
    assert found["metadata"]["annotations"] == {"example.com/x": GONE, "kai.scheduler/queue": "team-a"}
    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "A", "value": GONE}, {"name": "C", "valueFrom": {}}]


def test_a_secret_is_its_name_and_its_keys() -> None:
    found = trim.secret(
        {"metadata": {"name": "s", "namespace": "n"}, "type": "Opaque", "data": {"k": "dmFsdWU="}}
    )
    assert found == {"namespace": "n", "name": "s", "type": "Opaque", "created": "", "keys": {"k": 8}}


def test_a_kind_is_its_versions_and_conditions() -> None:
    found = trim.crd(
        {
            "metadata": {"name": "queues"},
            "spec": {
                "versions": [{"name": "v1", "served": False}, {"name": "v2", "served": True, "schema": {}}]
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        }
    )
    assert found == {
        "name": "queues",
        "versions": ["v2"],
        "conditions": {"Established": "True"},
        "deleting": "",
    }
