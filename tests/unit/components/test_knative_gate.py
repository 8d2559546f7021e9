"""The gate behind Knative: every Deployment, then the webhook; bounded; and nobody else's Knative."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from components.cluster import DeploymentFacts
from components.knative.gate import KnativeError, KnativeGate, refuse_foreign, unmet
from components.labels import MANAGED_BY
from tests.stack import LOCAL, FakeCluster, changed, knative_deployments, run_platform


@dataclass
class Clock:
    """Time that passes by the pause of each look."""

    now: float = 0.0
    said: list[str] = field(default_factory=list)

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def waited(cluster: FakeCluster, clock: Clock, timeout: float = 5, preview: bool = False) -> bool:
    gate = KnativeGate(cluster, timeout, 0, clock.said.append, clock)
    return asyncio.new_event_loop().run_until_complete(gate.ready(preview))


@pytest.mark.req("I7")
def test_it_waits_for_rollouts_and_then_for_the_webhook() -> None:
    clock = Clock()
    cluster = FakeCluster(
        serving=[(), knative_deployments(available=0), knative_deployments()],
        refusals=["no endpoints available for service webhook", ""],
    )
    assert waited(cluster, clock, timeout=60) is True
    assert "activator: no such Deployment" in clock.said[0]
    assert "webhook: 0 of 1 available" in clock.said[1]
    assert clock.said[2] == "waiting for Knative: webhook: no endpoints available for service webhook"


@pytest.mark.req("I7")
def test_it_gives_up_and_says_what_is_missing() -> None:
    with pytest.raises(
        KnativeError, match=r"Knative: found .*autoscaler: 0 of 1 updated.* after 5 s; expected"
    ):
        waited(FakeCluster(serving=[knative_deployments(updated=0)]), Clock())
    with pytest.raises(KnativeError, match="webhook: x509: certificate signed by unknown authority"):
        waited(FakeCluster(refusals=["x509: certificate signed by unknown authority"]), Clock())


@pytest.mark.req("I7")
def test_a_preview_does_not_ask() -> None:
    assert waited(FakeCluster(serving=[()]), Clock(), preview=True) is True


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, ""),
        ({"observed": 1}, "generation 1 seen of 2"),
        ({"wanted": 2}, "1 of 2 updated"),
        ({"wanted": 0, "updated": 0, "available": 0}, "0 of 0 available"),
    ],
)
def test_what_keeps_a_deployment_from_being_there(changes: dict[str, int], text: str) -> None:
    assert unmet(knative_deployments(**changes)[0]) == text


SOMEBODYS = (DeploymentFacts("controller", {"app.kubernetes.io/name": "knative-serving"}),)


@pytest.mark.req("I14")
def test_somebody_elses_knative_is_not_taken_over(tmp_path: Path) -> None:
    foreign = FakeCluster(serving=[SOMEBODYS])
    with pytest.raises(
        KnativeError, match=r"did not make; expected none; set runai-kit:knative\.enabled to false"
    ):
        refuse_foreign(foreign)
    with pytest.raises(KnativeError, match="Nothing was changed"):
        run_platform(tmp_path, cluster=foreign)


@pytest.mark.req("I14")
@pytest.mark.parametrize(
    "cluster",
    [
        lambda: FakeCluster(serving=[()]),
        lambda: FakeCluster(),
        # The operator labels what it makes as it likes.
        lambda: FakeCluster(serving=[SOMEBODYS], knative={"metadata": {"labels": dict(MANAGED_BY)}}),
    ],
)
def test_our_own_is_ours(cluster: Callable[[], FakeCluster]) -> None:
    refuse_foreign(cluster())


@pytest.mark.req("I14")
def test_an_operators_knative_that_is_not_ours_is_refused() -> None:
    with pytest.raises(KnativeError):
        refuse_foreign(FakeCluster(serving=[SOMEBODYS], knative={"metadata": {}}))


@pytest.mark.req("I14")
def test_without_knative_nobody_asks(tmp_path: Path) -> None:
    values = changed(LOCAL, "knative.enabled", False)
    assert (
        run_platform(tmp_path, values, FakeCluster(serving=[SOMEBODYS])).value["inference"]["enabled"]
        is False
    )
