"""What NVIDIA's fractions need, each thing missing by itself; and nothing to need with another way."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.validation.double import Double, node, thing
from validation import names
from validation.observe.fractioning import fractioning

POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
Json = dict[str, Any]


def bed(version: str = "v26.7.1", branch: str = "615", ready: str = "True", nri: bool = False) -> Double:
    cluster = Double()
    gpus = node("worker")
    gpus["metadata"]["labels"]["nvidia.com/cuda.driver-version.major"] = branch
    conditions = gpus.setdefault("status", {}).setdefault("conditions", [])
    conditions.append({"type": "gpu-fractioning.nvidia.com/Ready", "status": ready})
    cluster.add(names.NODES, gpus, node("control-plane", 0))
    spec = {"validator": {"version": version}, "cdi": {"nriPluginEnabled": nri}}
    cluster.add(POLICIES, thing("cluster-policy", spec=spec))
    return cluster


def look(cluster: Double, sharing: str = "fractioning") -> Json:
    return fractioning(cluster.at(sharing=sharing))


@pytest.mark.req("I5")
def test_a_cluster_that_has_everything() -> None:
    assert look(bed()) == {"sharing": "fractioning", "missing": [], "looked": True}


@pytest.mark.req("I5")
@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        (bed(version="v26.7.0"), "GPU Operator v26.7.0; expected 26.7.1 or later"),
        (bed(branch="580"), "worker: driver branch r580; expected r615 or later"),
        (bed(branch=""), "worker: no label with the driver's branch; expected r615 or later"),
        (bed(ready="False"), "worker: condition gpu-fractioning.nvidia.com/Ready is False; expected True"),
        (bed(nri=True), "the GPU Operator's NRI plugin is on; expected cdi.nriPluginEnabled false"),
    ],
)
def test_what_is_missing_is_named(cluster: Double, said: str) -> None:
    assert look(cluster)["missing"] == [said]


@pytest.mark.req("I5")
def test_no_gpu_operator_at_all() -> None:
    cluster = bed()
    cluster.objects[POLICIES] = []
    assert look(cluster)["missing"] == ["0 ClusterPolicies; expected one: the GPU Operator's"]


@pytest.mark.req("I5")
def test_another_way_of_sharing_needs_none_of_it() -> None:
    assert look(bed(version="v1", branch="1"), "reservation") == {"sharing": "reservation", "missing": []}
