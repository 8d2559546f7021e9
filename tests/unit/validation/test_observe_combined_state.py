"""V14: combined state: observations against expectations, right and wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.validation.beds import TWO, Json, pinned, workers
from tests.unit.validation.double import OUTPUTS, Double, node, pod, queue
from validation import names, prometheus
from validation.cluster import ClusterError
from validation.compare import differences
from validation.expect import combined_state as expect_combined
from validation.observe import combined_state, nodes
from validation.settings import load


def state(research: str = "3", scraped: str | None = None) -> Double:
    """The guide's state on two nodes of four; `scraped` is what Prometheus has for team-b."""
    cluster = workers(4, 4, 0)
    held = {
        "engineering": "4",
        "team-a": "4",
        "research": research,
        "team-b": research,
        "default": "1",
        "test": "1",
    }
    for name, gpus in held.items():
        cluster.add(names.QUEUES, queue(name, quota=-1 if name == "default" else 2, limit=4, allocated=gpus))
    for n in range(4):
        cluster.add(names.PODS, pinned(f"a{n}", "w1", 1, "combined_state", "first"))
    for n in range(2):
        cluster.add(names.PODS, pinned(f"b{n}", "w2", 1, "combined_state", "second"))
        half = pod(
            f"runai-kit-h{n}",
            on="w2",
            test="combined_state",
            role="half",
            annotations={"gpu-fraction": "0.5"},
        )
        cluster.add(names.PODS, half)
    cluster.add(names.PODS, pod("gpu-reservation-x", "kai-resource-reservation", on="w2", gpus=1))
    cluster.add(names.PODS, pinned("s", "w2", 1, "combined_state", "serving"))
    told = {**held, "team-b": scraped or held["team-b"]}
    api = prometheus.base(load(OUTPUTS))
    quotas = {name: -1 if name == "default" else 2 for name in held}
    answers: dict[str, Json] = {"kai_queue_allocated_gpus": told, "kai_queue_deserved_gpus": quotas}
    cluster.single[f"{api}/query"] = {"status": "success"}
    cluster.get = lambda path, **given: vector(answers[given["query"]])  # type: ignore[method-assign]
    return cluster


def vector(numbers: dict[str, Any]) -> Json:
    result = [{"metric": {"queue_name": name}, "value": [0, str(n)]} for name, n in numbers.items()]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def judged(cluster: Double) -> set[str]:
    at = cluster.at()
    made = expect_combined.plan(at.outputs, TWO)
    before = [{"gpus": 4, "free": 4}, {"gpus": 4, "free": 4}]
    wanted = expect_combined.expected(made, before, ["w3"])
    found = {
        "combined_state.queues": combined_state.in_queues(at),
        "combined_state.prometheus": combined_state.in_prometheus(at, 0.0, 0.01),
        "combined_state.workloads": combined_state.workloads(at),
        "combined_state.nodes": combined_state.on_nodes(at),
    }
    return {check for check in wanted if differences(wanted[check], found[check])}


@pytest.mark.req("V14")
def test_the_guides_state_passes_and_each_source_is_judged_by_itself() -> None:
    assert judged(state()) == set()
    assert judged(state(research="2")) == {"combined_state.queues", "combined_state.prometheus"}
    assert judged(state(scraped="2")) == {"combined_state.prometheus"}
    fewer = state()
    fewer.objects[names.PODS].pop(0)
    assert judged(fewer) == {"combined_state.workloads", "combined_state.nodes"}


@pytest.mark.req("V14")
@pytest.mark.parametrize(
    "closed",
    [{"unschedulable": True}, {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]}],
    ids=["cordoned", "not ready"],
)
def test_a_node_that_takes_no_pods_is_on_neither_side(closed: Json) -> None:
    cluster = state()
    more = node("w9", 4, labels={nodes.HOSTNAME: "w9"})
    more["spec"] = closed
    cluster.add(names.NODES, more).add(names.PODS, pod("others", "elsewhere", on="w9", gpus=2))
    assert judged(cluster) == set()


@pytest.mark.req("V14")
def test_tables_say_unlimited_and_not_available() -> None:
    tables = combined_state.tables(state().at())
    lines = {name: text.splitlines() for name, text in tables.items()}
    assert lines["projects.txt"][1].split() == ["team-a", "engineering", "2.00", "4.00", "200.00%"]
    assert lines["departments.txt"][2].split() == ["research", "2.00", "3.00", "150.00%"]
    assert lines["departments.txt"][3].split()[:3] == ["default", "unlimited", "1.00"]
    assert lines["nodes.txt"][1].split() == ["w1", "Ready", "NVIDIA-A100-SXM4-80GB", "4/4", "0", "default"]
    assert lines["nodes.txt"][3].split() == ["w3", "Ready", "N/A", "N/A", "N/A", "default"]


@pytest.mark.req("V14")
def test_a_prometheus_that_does_not_answer_is_an_error_and_no_number() -> None:
    cluster = state()

    def refuse(_path: str, **_given: Any) -> Json:
        raise ClusterError("503 no endpoints", 503)

    cluster.get = refuse  # type: ignore[assignment,method-assign]
    assert combined_state.in_prometheus(cluster.at(), 0.0) == {"error": "503 no endpoints"}


@pytest.mark.req("V14")
@pytest.mark.parametrize(("text", "value"), [("5s", 5), ("1m30s", 90), ("500ms", 0.5), ("1h", 3600)])
def test_durations_of_prometheus(text: str, value: float) -> None:
    assert prometheus.seconds(text) == value
    with pytest.raises(ValueError, match="not a Prometheus duration"):
        prometheus.seconds(f"{text}!")
