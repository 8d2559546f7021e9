"""Bounds of the settings: what they leave too little for is skipped with the bound that it needs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.validation.double import Double
from validation import declared, names, node_labels, timeline
from validation.chains.schedule import part
from validation.cluster import Cluster
from validation.expect import over_quota
from validation.expect.nodes import GpuNode
from validation.gate import decide
from validation.scope import TRIALS, obstacle, unprovable
from validation.settings import OutputsError, StackOutputs, load

Json = dict[str, Any]
OUTPUTS: Json = json.loads((Path(__file__).parent / "data/outputs.json").read_text())
pytestmark = pytest.mark.req("V12")


def outputs(**limits: Any) -> StackOutputs:
    return load({**OUTPUTS, "validation": {**OUTPUTS["validation"], **limits}})


def nodes(*gpus: int) -> list[GpuNode]:
    return [GpuNode(f"w{n}", f"host-{n}", count, count) for n, count in enumerate(gpus, 1)]


@pytest.mark.parametrize("bound", [0, 1, 4, 8])
def test_what_each_bound_leaves_on_two_nodes_of_four(bound: int) -> None:
    whole = part(nodes(4, 4), 0)
    refused = {
        test for test in TRIALS if unprovable(test, outputs(maxGpus=bound), part(nodes(4, 4), bound), whole)
    }
    small = {"over_quota", "reclaim", "gang", "topology", "node_pools", "combined_state"}
    assert (
        refused
        == {
            0: set(),
            1: {*small, "priority", "placement", "fair_share_over_time", "monitoring"},
            4: {"over_quota", "reclaim", "combined_state", "node_pools", "topology"},
            8: set(),
        }[bound]
    )


@given(
    st.sampled_from(sorted(TRIALS)), st.lists(st.integers(1, 8), min_size=1, max_size=4), st.integers(1, 20)
)
def test_the_bound_that_is_named_is_enough_and_the_smallest(test: str, gpus: list[int], bound: int) -> None:
    stack, whole = outputs(maxGpus=bound), part(nodes(*gpus), 0)
    why = unprovable(test, stack, part(nodes(*gpus), bound), whole)
    if not why:
        return
    needed = re.search(r"it needs validation\.maxGpus (\d+), or 0", why)
    assert needed, why
    free = outputs(maxGpus=0)
    enough = int(needed.group(1))
    assert not obstacle(test, free, replace(whole, budget=enough, scarce=enough == whole.free))
    assert obstacle(test, free, replace(whole, budget=enough - 1, scarce=False))


def test_what_the_cluster_cannot_do_either_is_no_matter_of_bounds() -> None:
    one = part(nodes(1), 1)
    assert obstacle("reclaim", outputs(), one)
    assert unprovable("reclaim", outputs(maxGpus=1), one, one) == ""


def test_a_pool_without_a_project_is_named() -> None:
    stack = outputs(nodePool="a100")
    why = unprovable("mnist_training", stack, part(nodes(4), 0), part(nodes(4, 4), 0))
    assert "validation.nodePool: found 'a100'" in why
    assert "departments[].nodePool" in why
    with pytest.raises(OutputsError):
        _ = stack.chosen_project


def test_only_limits_hold_the_teams_back_where_more_is_free_than_allowed() -> None:
    first, second = over_quota.teams(outputs(), [])
    assert over_quota.plan(first, second, 5).both == {"team-a": 3, "team-b": 2}
    with pytest.raises(over_quota.ImpossibleError, match="hold 6"):
        over_quota.plan(first, second, 5, scarce=False)
    assert over_quota.plan(first, second, 6, scarce=False).limitReached


def test_the_gate_skips_what_cannot_be_proved_after_everything_else_was_asked() -> None:
    test = declared.tests()["reclaim"]
    blocking = {c.id: {"verdict": "pass", "reason": ""} for c in declared.checks().values() if c.blocking}
    decision = decide(test, blocking, {}, {}, "needs 8")
    assert (decision.run, decision.verdict, decision.reason) == (False, "skip", "needs 8")
    assert decide(test, {}, {}, {}, "needs 8").reason.startswith("refused: preflight did not record")


class Nodes(Double):
    """Nodes whose annotations can be changed, too."""

    def patch(self, path: str, change: Json) -> Json:
        thing = self.get(path)
        for kind, values in change["metadata"].items():
            for key, value in values.items():
                kept = thing["metadata"].setdefault(kind, {})
                kept.pop(key, None) if value is None else kept.update({key: value})
        return thing


@pytest.mark.parametrize(
    ("test", "before", "after"),
    [
        ("fair_share_over_time", "a100", "a100"),
        ("fair_share_over_time", None, None),
        ("fair_share_over_time", "runai-kit-chains", "runai-kit-chains"),
        ("", "runai-kit-chains", None),
        ("", "a100", "a100"),
    ],
)
def test_a_node_goes_back_to_its_pool(test: str, before: str | None, after: str | None) -> None:
    key = "kai.scheduler/node-pool"
    annotations = {names.POOL_BEFORE_ANNOTATION: before} if before else {}
    labels: dict[str, str] = {key: "runai-kit-fair-share-over-time", names.RACK_LABEL: "other"}
    node = {"metadata": {"name": "w1", "labels": labels, "annotations": annotations}}
    cluster = Nodes().add(names.NODES, node)
    node_labels.remove(_typed(cluster), test)
    assert labels.get(key) == after
    assert names.POOL_BEFORE_ANNOTATION not in annotations


def _typed(double: Double) -> Cluster:
    from typing import cast

    return cast(Cluster, double)


def test_what_was_held_at_a_time_and_where() -> None:
    def line(uid: str, gpus: float, node: str, kind: str = "MODIFIED", phase: str = "Running") -> Json:
        return {
            "kind": "pod",
            "type": kind,
            "uid": uid,
            "gpus": gpus,
            "node": node,
            "phase": phase,
            "test": "t",
        }

    lines = [
        line("a", 2, ""),
        line("a", 2, "w1"),
        line("b", 0.5, "w1"),
        line("a", 2, "w1", "DELETED"),
        line("c", 1, "w2"),
        line("c", 1, "w2", phase="Succeeded"),
        line("d", 1, "w1"),
    ]
    assert timeline.held(lines) == (2.5, {"w1", "w2"})
    assert timeline.held(lines, "other") == (0, set())
