"""Whose Helm releases a destroy takes away: those of the kit's provider, and nobody else's."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from day2.destroy import sweep
from day2.destroy.options import Options
from day2.destroy.run import Destroy, RefusedError
from day2.state import Declared, ReleaseName, Stack
from tests.unit.day2.cluster import FakeCluster, obj
from tests.unit.day2.helm import RENDERED, revision
from validation.cluster import Cluster

pytestmark = pytest.mark.req("I14")
Json = dict[str, Any]
HOME = obj("v1", "Namespace", "kai-scheduler")
STACK = Stack("test", "context", "", (Declared(HOME, False, False),), ())
MAP = obj("v1", "ConfigMap", "settings", "kai-scheduler")
QUEUE = obj("scheduling.run.ai/v2", "Queue", "everybodys")


def run(cluster: FakeCluster, stack: Stack = STACK, **given: bool) -> Destroy:
    return Destroy(Options("test", **given), stack, cast(Cluster, cluster), Path(), lambda _: None)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for."""
    monkeypatch.setattr("time.sleep", lambda _: None)


def there(cluster: FakeCluster, body: Json) -> bool:
    return body["metadata"]["name"] in {path.rpartition("/")[2] for path in cluster.objects}


def test_a_release_that_somebody_else_installed_is_theirs() -> None:
    """What it has in the kit's namespace goes when that is asked for, what it has elsewhere stays."""
    cluster = FakeCluster(HOME, MAP, QUEUE, revision("theirs", "kai-scheduler", MAP, QUEUE, by="helm"))
    with pytest.raises(RefusedError, match="ConfigMap kai-scheduler/settings"):
        run(cluster).look()
    assert cluster.deleted == []
    accepted = run(cluster, workloads=True)
    accepted.look()
    accepted.begin()
    assert not there(cluster, MAP)
    assert there(cluster, QUEUE)


def test_a_release_of_a_killed_run_goes_with_what_it_made() -> None:
    first = revision("kai", "kai-scheduler", MAP, QUEUE, status="superseded")
    # Somebody put it right by Helm's own command meanwhile.
    second = revision("kai", "kai-scheduler", MAP, QUEUE, by="helm", version=2)
    for records in ((first,), (first, second)):
        cluster = FakeCluster(HOME, MAP, QUEUE, *records)
        destroy = run(cluster)
        destroy.look()
        destroy.begin()
        assert [there(cluster, body) for body in (MAP, QUEUE, *records)] == [False] * (2 + len(records))


def test_cluster_wide_objects_of_others_outlive_the_namespace_of_their_release() -> None:
    mark = {"annotations": {"meta.helm.sh/release-namespace": "kai-scheduler"}}
    theirs = obj("scheduling.run.ai/v2", "Queue", "theirs", metadata=mark)
    fields = {"managedFields": [{"manager": RENDERED}]}
    left = obj("scheduling.run.ai/v2", "Queue", "left", metadata=mark | fields)
    cluster = FakeCluster(theirs, left)
    sweep.orphans(cast(Cluster, cluster), ["kai-scheduler"], lambda _: None)
    assert [there(cluster, body) for body in (theirs, left)] == [True, False]


@pytest.mark.parametrize("status", ["failed", "pending-install", ""])
def test_a_release_without_a_deployed_revision_hides_no_other_one(status: str) -> None:
    """An empty status: the release was taken away by hand."""
    names = (ReleaseName("broken", "kai-scheduler"), ReleaseName("whole", "kai-scheduler"))
    stack = Stack("test", "context", "", (Declared(HOME, False, False),), names)
    of_broken = obj("v1", "ConfigMap", "of-broken", "kai-scheduler")
    cluster = FakeCluster(HOME, MAP, revision("whole", "kai-scheduler", MAP))
    if status:
        broken = revision("broken", "kai-scheduler", of_broken, status=status)
        cluster = FakeCluster(HOME, MAP, of_broken, broken, revision("whole", "kai-scheduler", MAP))
    said: list[str] = []
    Destroy(Options("test"), stack, cast(Cluster, cluster), Path(), said.append).look()
    assert ["kai-scheduler/broken: found no deployed revision" in text for text in said] == [True]
