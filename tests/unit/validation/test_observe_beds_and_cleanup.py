"""V9, V11: beds and cleanup: observations against expectations, right and wrong."""

from __future__ import annotations

import copy

import pytest

from tests.unit.validation.beds import KEY, pinned, pooled, workers
from tests.unit.validation.double import OUTPUTS, Double, node, pod, thing
from validation import cleanup, names, node_labels
from validation.expect import node_pools as expect_pools
from validation.expect.nodes import bed
from validation.observe import nodes


@pytest.mark.req("V9")
def test_gpu_nodes_tell_what_others_use_and_the_bed_is_made_of_it() -> None:
    cluster = workers(4, 4, 0).add(names.PODS, pod("theirs", "other", "w2", 1))
    found = nodes.facts(cluster.at())
    assert found["plainNodes"] == ["w3"]
    made = bed(found)
    assert [(n.name, n.free, n.shared) for n in made.nodes] == [("w1", 4, False), ("w2", 3, True)]
    assert (made.budget, made.scarce) == (7, True)
    bounds = {**OUTPUTS["validation"], "maxGpus": 2}
    bounded = bed(nodes.facts(cluster.at(validation=bounds)))
    assert (bounded.budget, bounded.scarce) == (2, False)


@pytest.mark.req("V9", "V11")
def test_labels_on_nodes_are_taken_back_and_the_nodes_own_names_stay() -> None:
    labels = {
        nodes.HOSTNAME: "runai-kit-worker",
        names.RACK_LABEL: "runai-kit-topology-rack-1",
        KEY: expect_pools.POOL,
    }
    cluster = Double().add(names.NODES, node("runai-kit-worker", 4, labels=copy.deepcopy(labels)))
    assert len(node_labels.left(cluster.cluster)) == 2
    assert node_labels.left(cluster.cluster, "topology") == [
        f"label {names.RACK_LABEL}=runai-kit-topology-rack-1 of node runai-kit-worker"
    ]
    removed, left = cleanup.remove(cluster.cluster, "res", "topology", timeout=0.1, interval=0.01)
    assert (len(removed), left) == (1, [])
    assert cluster.objects[names.NODES][0]["metadata"]["labels"][KEY] == expect_pools.POOL
    cleanup.remove(cluster.cluster, "res", "", timeout=0.1, interval=0.01)
    kept = cluster.objects[names.NODES][0]["metadata"]["labels"]
    assert KEY not in kept
    assert kept[nodes.HOSTNAME] == "runai-kit-worker"


@pytest.mark.req("V9", "V11")
def test_a_shard_goes_and_its_scheduler_is_waited_for() -> None:
    own = {names.PART_OF_LABEL: names.PART_OF, names.TEST_LABEL: "node_pools"}
    cluster = pooled()
    cluster.objects[names.SHARDS][0]["metadata"]["labels"] = own
    cluster.add(names.SHARDS, thing("default", spec={}))
    cluster.objects[names.NODES][0]["metadata"]["labels"].pop(KEY)
    scheduler = f"deployments kai-scheduler/kai-scheduler-{expect_pools.POOL}"
    removed, left = cleanup.remove(cluster.cluster, "res", "node_pools", timeout=0.1, interval=0.01)
    assert removed == [f"schedulingshards {expect_pools.POOL}"]
    assert left == [scheduler]
    assert cleanup.left(cluster.cluster, "res", "topology") == []
    assert [s["metadata"]["name"] for s in cluster.objects[names.SHARDS]] == ["default"]


@pytest.mark.req("V9", "V11")
def test_parts_of_a_test_go_in_its_middle_and_the_rest_stays() -> None:
    cluster = workers(4).add(
        names.PODS, pinned("a", "w1", 1, "gang", "plug"), pinned("b", "w1", 1, "gang", "filler")
    )
    assert cleanup.remove_roles(cluster.cluster, "gang", ["plug"], 0.1, 0.01) == (
        ["pods runai-team-a/runai-kit-a"],
        [],
    )
    assert [p["metadata"]["name"] for p in cluster.objects[names.PODS]] == ["runai-kit-b"]
