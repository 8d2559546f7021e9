"""I14: Jobs of Helm hooks are taken away where the stack owns the namespace, and nowhere else."""

from __future__ import annotations

from typing import Any, cast

import pytest

from day2.healing import hooks
from day2.healing.releases import NAMESPACE_TYPE, TYPE
from validation.cluster import Cluster

pytestmark = pytest.mark.req("I14")
Json = dict[str, Any]


class Jobs:
    """Jobs by namespace; remembers what was deleted."""

    def __init__(self, jobs: dict[str, list[Json]]) -> None:
        self.jobs, self.deleted = jobs, list[str]()

    def items(self, path: str) -> list[Json]:
        return self.jobs.get(path.split("/")[5], [])

    def delete(self, path: str) -> bool:
        self.deleted.append(path)
        return True


def job(name: str, hook: str = "") -> Json:
    return {"metadata": {"name": name, "annotations": {"helm.sh/hook": hook} if hook else {}}}


def state(*owned: str) -> Json:
    spaces = [{"type": NAMESPACE_TYPE, "inputs": {"metadata": {"name": name}}} for name in owned]
    release = {"type": TYPE, "inputs": {"name": "kai-scheduler", "namespace": "kai-scheduler"}}
    return {"resources": spaces, "pending_operations": [{"resource": release}]}


def test_the_job_of_a_hook_goes_and_others_stay() -> None:
    api = Jobs({"kai-scheduler": [job("crd-upgrader", "pre-install"), job("theirs")]})
    assert hooks.remove(cast(Cluster, api), state("kai-scheduler"))
    assert api.deleted == ["/apis/batch/v1/namespaces/kai-scheduler/jobs/crd-upgrader"]


def test_a_namespace_of_others_is_not_looked_at() -> None:
    api = Jobs({"kai-scheduler": [job("crd-upgrader", "pre-install")]})
    assert not hooks.remove(cast(Cluster, api), state("another"))
    assert api.deleted == []
