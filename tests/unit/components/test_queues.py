"""Queues of departments and projects: names, parents, numbers, and all three resources always."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.queues import queue_spec
from components.shares import ResolvedQuota, ShareError
from tests.mocks import Run
from tests.stack import LOCAL, FakeCluster, changed, nodes, run_platform

UNBOUNDED = {"quota": -1, "limit": -1, "overQuotaWeight": 1}


def queues(run: Run) -> dict[str, dict[str, object]]:
    return {item.inputs["metadata"]["name"]: item.inputs["spec"] for item in run.of_type("Queue")}


@pytest.mark.req("I3")
def test_a_department_is_the_parent_of_its_projects(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    specs = queues(run)
    assert specs.keys() == {"engineering", "team-a", "default", "test"}
    assert "parentQueue" not in specs["engineering"]
    assert specs["team-a"]["parentQueue"] == "engineering"
    assert specs["test"]["parentQueue"] == "default"
    assert "queue-engineering" in run.one("Queue", "queue-team-a").depends_on
    assert {item.inputs["apiVersion"] for item in run.of_type("Queue")} == {"scheduling.run.ai/v2"}


@pytest.mark.req("I3")
@pytest.mark.parametrize(("gpus", "deserved", "limit"), [((4, 4), 2, 4), ((8,), 2, 4), ((4,), 1, 2)])
def test_shares_follow_the_live_capacity(
    gpus: tuple[int, ...], deserved: int, limit: int, tmp_path: Path
) -> None:
    values = changed(LOCAL, "fakeGpus.nodes", {f"worker{i}": {"count": n} for i, n in enumerate(gpus, 1)})
    values = changed(values, "departments.1.projects.0.gpu.deserved", 1)
    run = run_platform(tmp_path, values, FakeCluster([nodes(*gpus)]))
    spec = queues(run)["team-a"]
    assert spec["resources"] == {
        "gpu": {"quota": deserved, "limit": limit, "overQuotaWeight": 1},
        "cpu": UNBOUNDED,
        "memory": UNBOUNDED,
    }
    assert run.value["capacityGpus"] == sum(gpus)


@pytest.mark.req("I3")
def test_a_department_without_limits_is_unlimited(tmp_path: Path) -> None:
    resources = queues(run_platform(tmp_path))["default"]["resources"]
    assert resources == {"gpu": UNBOUNDED, "cpu": UNBOUNDED, "memory": UNBOUNDED}


@pytest.mark.req("I3")
def test_queues_of_a_pool_carry_its_label(tmp_path: Path) -> None:
    values = changed(
        changed(LOCAL, "nodePools", {"labelKey": "pool", "pools": [{"name": "a100"}]}),
        "capacity",
        {"source": "setting", "gpus": 8},
    )
    values = changed(changed(values, "nodePools.pools.0.gpus", 4), "departments.0.nodePool", "a100")
    run = run_platform(tmp_path, values)
    labels = {
        item.inputs["metadata"]["name"]: item.inputs["metadata"]["labels"] for item in run.of_type("Queue")
    }
    assert labels["engineering"]["pool"] == labels["team-a"]["pool"] == "a100"
    assert "pool" not in labels["default"]
    assert queues(run)["engineering"]["resources"]["gpu"]["quota"] == 1  # type: ignore[index]


@pytest.mark.req("I3")
def test_a_part_of_a_gpu_stays_a_part(tmp_path: Path) -> None:
    spec = queue_spec(ResolvedQuota(0.5, 1.5, 2.0), "above")
    assert spec["resources"]["gpu"] == {"quota": 0.5, "limit": 1.5, "overQuotaWeight": 2}  # type: ignore[index]


@pytest.mark.req("I3")
def test_no_gpus_at_all_is_an_error_before_any_queue(tmp_path: Path) -> None:
    values = changed(changed(LOCAL, "fakeGpus.enabled", False), "cluster.kind", "other")
    with pytest.raises(ShareError, match="found 25% of 0 GPUs"):
        run_platform(tmp_path, values, FakeCluster([nodes(0)]))
