"""A second Prometheus Operator is refused with both owners; somebody else's can be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.connect import ClusterError
from components.prometheus.owners import refuse_second_operator
from tests.stack import LOCAL, FakeCluster, changed, run_platform, settings

NAME = "prometheuses.monitoring.coreos.com"
CHART = changed(
    changed(changed(LOCAL, "knative.source", "operator"), "monitoring.source", "chart"),
    "charts.source",
    "registry",
)
EXISTING = changed(CHART, "monitoring.operator", "existing")


def kinds(**labels: str) -> dict[str, dict[str, Any]]:
    return {NAME: {"metadata": {"name": NAME, "labels": labels or None}}}


def operator(namespace: str) -> dict[str, list[dict[str, Any]]]:
    return {"deployments": [{"metadata": {"namespace": namespace, "name": "operator"}}]}


@pytest.mark.req("I10")
@pytest.mark.parametrize(
    ("values", "bed", "words"),
    [
        (CHART, FakeCluster(kinds=kinds(**{"kapp.k14s.io/app": "17"})), "kapp.k14s.io/app=17"),
        (LOCAL, FakeCluster(kinds=kinds(), listed=operator("theirs")), "of Deployment theirs/operator"),
        (EXISTING, FakeCluster(), f"no CustomResourceDefinition {NAME}"),
    ],
)
def test_a_second_owner_or_none_at_all(values: dict[str, Any], bed: FakeCluster, words: str) -> None:
    with pytest.raises(ClusterError) as caught:
        refuse_second_operator(bed, settings(values).monitoring, "monitoring")
    assert words in str(caught.value)
    assert "monitoring.operator" in str(caught.value)


@pytest.mark.req("I10")
@pytest.mark.parametrize(
    ("values", "bed"),
    [
        (CHART, FakeCluster()),
        (CHART, FakeCluster(kinds=kinds(), listed=operator("monitoring"))),
        (EXISTING, FakeCluster(kinds=kinds(), listed=operator("theirs"))),
        (
            changed(CHART, "monitoring.enabled", False),
            FakeCluster(kinds=kinds(), listed=operator("theirs")),
        ),
    ],
)
def test_one_owner_is_enough(values: dict[str, Any], bed: FakeCluster) -> None:
    refuse_second_operator(bed, settings(values).monitoring, "monitoring")


@pytest.mark.req("I10")
@pytest.mark.parametrize(("stack", "own"), [(CHART, True), (EXISTING, False)])
def test_somebody_elses_operator_gets_no_second_one(stack: dict[str, Any], own: bool, tmp_path: Path) -> None:
    run = run_platform(tmp_path, stack, FakeCluster(kinds=kinds()))
    values = run.one("Release", "kube-prometheus-stack").inputs["values"]
    assert values["crds"] == {"enabled": own}
    assert values["prometheusOperator"]["enabled"] is own
