"""Templates of the scheduling tests: what would be sent to a cluster."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.roles.test_roles import render

Json = dict[str, Any]
PLAN: Json = {
    "pool": "runai-kit-fair-share-over-time",
    "kValue": 2.0,
    "window": 20,
    "step": 5,
    "gpus": 4,
}


def restricted(spec: Json) -> bool:
    """Would Pod Security `restricted` let this pod in?"""
    pod = spec["securityContext"]
    containers = [*spec["containers"], *spec.get("initContainers", [])]
    return (
        pod["runAsNonRoot"] is True
        and pod["seccompProfile"] == {"type": "RuntimeDefault"}
        and all(
            c["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
            for c in containers
        )
    )


@pytest.mark.req("V9")
@pytest.mark.parametrize(("pool", "label"), [({}, None), ({"pool": "lab"}, "lab")])
def test_a_queue_belongs_to_its_pool(pool: Json, label: str | None) -> None:
    tree = [{"name": "kit-x", "parent": "", "deserved": 0, "limit": -1, **pool}]
    (queue,) = render("kai/queues.yml.j2", queue_tree=tree, queue_test="x")
    assert queue["metadata"]["labels"].get("kai.scheduler/node-pool") == label
    # Where all tests stay in a pool, so do their queues: the pool's scheduler sees no others.
    bounds = {"validation": {"nodePool": "all"}}
    (bound,) = render("kai/queues.yml.j2", kit=bounds, queue_tree=tree, queue_test="x")
    assert bound["metadata"]["labels"]["kai.scheduler/node-pool"] == (label or "all")


@pytest.mark.req("V9")
def test_a_shard_asks_the_stacks_prometheus_for_a_short_past() -> None:
    (spec,) = render("kai/usage.yml.j2", fair_share_over_time_plan=PLAN)
    usage = spec["usageDBConfig"]
    assert usage["connectionString"] == "http://prometheus-operated.monitoring.svc:9090"
    assert usage["usageParams"]["windowSize"] == "20s"
    extra = usage["usageParams"]["extraParams"]
    assert extra["queryResolution"] == "5s"
    assert extra["gpuCapacityMetric"] == "vector(4)"
    assert (spec["kValue"], spec["partitionLabelValue"]) == (2.0, PLAN["pool"])


@pytest.mark.req("V9")
def test_plain_pods_name_no_scheduler_and_their_namespace_is_no_projects() -> None:
    plan = {"namespace": "runai-kit-coexistence", "each": 2, "nodes": ["gpu-1"]}
    namespace, *pods = render("coexistence/pods.yml.j2", coexistence_plan=plan, coexistence_role="before")
    own = ("app.kubernetes.io/", "runai-kit.io/", "pod-security.kubernetes.io/")
    assert [key for key in namespace["metadata"]["labels"] if not key.startswith(own)] == []
    assert len(pods) == 2
    for pod in pods:
        assert "schedulerName" not in pod["spec"]
        assert "nvidia.com/gpu" not in pod["spec"]["containers"][0]["resources"]["limits"]
        assert restricted(pod["spec"])


@pytest.mark.req("V9")
def test_parts_of_gpus_are_asked_for_as_the_cluster_offers_them() -> None:
    wanted = [
        {"key": "mig", "value": "nvidia.com/mig-1g.10gb"},
        {"key": "deviceClass", "value": "gpu.nvidia.com"},
    ]
    mig, template, dra = render(
        "partitions/pods.yml.j2",
        partitions_wanted=wanted,
        partitions_namespace="runai-team-a",
        partitions_queue="team-a",
    )
    assert mig["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/mig-1g.10gb"] == "1"
    assert (
        template["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == "gpu.nvidia.com"
    )
    claims = dra["spec"]["resourceClaims"]
    assert claims[0]["resourceClaimTemplateName"] == template["metadata"]["name"]
    for pod in (mig, dra):
        assert pod["metadata"]["labels"]["kai.scheduler/queue"] == "team-a"
        assert restricted(pod["spec"])


@pytest.mark.req("V10")
@pytest.mark.parametrize(("mirror", "seeded"), [("", 1), ("https://mirror.example.org", 0)])
def test_the_mirror_is_seeded_where_there_is_a_seed(mirror: str, seeded: int) -> None:
    service, script, pod = render(
        "fallbacks/mirror.yml.j2",
        fallbacks_plan={"mirrorName": "runai-kit-fallbacks-mirror"},
        fallbacks_namespace="runai-team-a",
        fallbacks_mirror=mirror,
        fallbacks_script="print('{{ no template }}')\n",
    )
    assert script["data"]["mirror.py"] == "print('{{ no template }}')\n"
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    assert {port["port"] for port in service["spec"]["ports"]} == {8080, 8081, 8082}
    assert len(pod["spec"].get("initContainers", [])) == seeded
    assert restricted(pod["spec"])
    assert yaml.safe_dump(pod)
