"""An inventory tells every object by its kind, namespace and name, and a kind that fails is no empty kind."""

from __future__ import annotations

from typing import Any, cast

import pytest

from day2.inventory import inventory
from day2.kinds import Kinds
from tests.acceptance.inventory import Seen, differences, snapshot
from tests.unit.day2.cluster import FakeCluster, obj
from validation.cluster import Cluster, ClusterError


def test_all_kinds_in_all_namespaces() -> None:
    cluster = FakeCluster(
        obj("v1", "ConfigMap", "a", "one"), obj("v1", "ConfigMap", "a", "two"), obj("v1", "Node", "n")
    )
    # A list of all namespaces ends where the resource's name does.
    found = {str(item) for item in inventory(cast(Cluster, cluster))}
    assert found == {"ConfigMap one/a", "ConfigMap two/a", "Node n"}


def test_what_a_metrics_server_computes_is_no_object() -> None:
    cluster = FakeCluster(
        obj("v1", "Pod", "a", "one"), obj("metrics.k8s.io/v1beta1", "PodMetrics", "a", "one")
    )
    assert [str(item) for item in inventory(cast(Cluster, cluster))] == ["Pod one/a"]


def test_a_kind_that_cannot_be_listed_is_no_empty_kind() -> None:
    cluster = FakeCluster()
    cluster.broken.add("/api/v1/pods")
    with pytest.raises(ClusterError, match="503"):
        inventory(cast(Cluster, cluster))


def test_a_kind_is_found_by_its_version_and_not_asked_twice() -> None:
    cluster = FakeCluster()
    kinds = Kinds(cast(Cluster, cluster))
    kind = kinds.find("apps/v1", "Deployment")
    assert kind is not None
    assert kind.path("a", "b") == "/apis/apps/v1/namespaces/a/deployments/b"
    assert kind.path() == "/apis/apps/v1/deployments"
    assert kinds.find("apps/v1", "Nothing") is None
    assert kinds.find("example.com/v1", "Thing") is None
    cluster.broken.add("/apis/apps/v1")
    assert kinds.find("apps/v1", "Deployment") == kind


def test_what_came_went_and_changed_is_told() -> None:
    def seen(*objects: dict[str, Any]) -> dict[str, Seen]:
        return snapshot(cast(Cluster, FakeCluster(*objects)))

    one = obj("v1", "ConfigMap", "a", "kit", metadata={"generation": 1, "labels": {"x": "1"}})
    other = obj("v1", "ConfigMap", "a", "kit", metadata={"generation": 2, "labels": {"x": "2"}})
    gone, new = obj("v1", "ConfigMap", "gone", "b"), obj("v1", "ConfigMap", "new", "b")
    mine = obj("v1", "ConfigMap", "c", "kit", metadata={"generation": 1})
    back = obj("v1", "ConfigMap", "c", "kit", metadata={"generation": 3})
    elsewhere = obj("v1", "ConfigMap", "c", "b", metadata={"generation": 1})
    later = obj("v1", "ConfigMap", "c", "b", metadata={"generation": 3})
    before, after = seen(one, gone, mine, elsewhere), seen(other, new, back, later)
    told = differences(before, after, ["kit"])
    assert [text.partition(":")[0] for text in told] == ["changed and put back", "changed", "gone", "new"]
    assert differences(before, before, ["kit"]) == []
