"""I14: Jobs of Helm hooks are taken away where the stack owns the namespace, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from day2.healing import hooks
from day2.healing.releases import NAMESPACE_TYPE, TYPE
from tests.unit.day2.healing.told import Api, job

pytestmark = pytest.mark.req("I14")
Json = dict[str, Any]


def state(*owned: str) -> Json:
    spaces = [{"type": NAMESPACE_TYPE, "inputs": {"metadata": {"name": name}}} for name in owned]
    release = {"type": TYPE, "inputs": {"name": "kai-scheduler", "namespace": "kai-scheduler"}}
    return {"resources": spaces, "pending_operations": [{"resource": release}]}


def test_the_job_of_a_hook_goes_and_others_stay() -> None:
    api = Api(jobs={"kai-scheduler": [job("crd-upgrader", "pre-install"), job("theirs")]})
    assert hooks.remove(api.cluster(), state("kai-scheduler"))
    assert api.deleted == ["crd-upgrader"]


def test_a_namespace_of_others_is_not_looked_at() -> None:
    api = Api(jobs={"kai-scheduler": [job("crd-upgrader", "pre-install")]})
    assert not hooks.remove(api.cluster(), state("another"))
    assert api.deleted == []
