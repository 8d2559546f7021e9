"""Two schedulers of one kind on a cluster: refused before anything changes, whichever was there first."""

from __future__ import annotations

from typing import Any

import pytest

from components.cluster import DeploymentFacts
from components.connect import ClusterError
from components.owners import refuse_second_scheduler
from tests.full import FULL
from tests.stack import LOCAL, FakeCluster, changed, settings

KRM = changed(changed(LOCAL, "scheduler.version", "0.18.6"), "resourceManagement", {"enabled": True})
OPERATOR = DeploymentFacts("operator", {}, 1, 1, 1, 1, 1)


def there(*namespaces: str) -> FakeCluster:
    return FakeCluster(others=dict.fromkeys(namespaces, (OPERATOR,)))


@pytest.mark.req("I2", "I4", "I9")
@pytest.mark.parametrize(
    ("values", "found", "said"),
    [
        (LOCAL, "runai", "Run:ai's cluster agents in namespace runai; expected none beside KAI Scheduler"),
        (LOCAL, "kai-resource-management", "KAI Resource Management in namespace"),
        (KRM, "kai-scheduler", "KAI Scheduler by its own chart in namespace kai-scheduler"),
        (FULL, "kai-scheduler", "expected none beside Run:ai's cluster agents, which this stack installs"),
        (FULL, "kai-resource-management", "remove the other one first. Nothing was changed."),
    ],
)
def test_a_second_owner_is_refused(values: dict[str, Any], found: str, said: str) -> None:
    with pytest.raises(ClusterError) as caught:
        refuse_second_scheduler(there(found), settings(values))
    assert said in str(caught.value)


@pytest.mark.req("I2", "I4", "I9")
@pytest.mark.parametrize(
    ("values", "found"),
    [
        (LOCAL, "kai-scheduler"),
        (KRM, "kai-resource-management"),
        (FULL, "runai"),
        (changed(changed(FULL, "clusterAgents.enabled", False), "departments", []), "kai-scheduler"),
    ],
)
def test_our_own_is_not_a_second_one(values: dict[str, Any], found: str) -> None:
    refuse_second_scheduler(there(found), settings(values))
