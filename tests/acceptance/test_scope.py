"""What the settings' bounds allow is never exceeded, and what they leave too little for is skipped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import call
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, patch, prove
from validation import timeline
from validation.settings import StackOutputs

Json = dict[str, Any]
POOL = "acceptance-scope"
SHARD = "schedulingshards.kai.scheduler"


def bounded(
    outputs: StackOutputs, folder: Path, tags: str, changes: Json | None = None, **limits: Any
) -> tuple[dict[str, Json], list[Json]]:
    """Checks by id of the suite under other bounds, and what its watch saw."""
    raw = outputs.model_dump()
    file = folder / "outputs.json"
    file.write_text(json.dumps({**raw, **(changes or {}), "validation": {**raw["validation"], **limits}}))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KIT_OUTPUTS_FILE", str(file))
        _, checks = prove("site", outputs, folder / "report", tags)
    return checks, timeline.read(folder / "report" / timeline.FILE)


def verdicts(checks: dict[str, Json], *tests: str) -> set[str]:
    """Verdicts of these tests; what the control plane tells (V13) is about another driver."""
    mine = (c for name, c in checks.items() if name.partition(".")[0] in tests)
    return {check["verdict"] for check in mine if check["requirement"] != "V13"}


def nobody_was_evicted(checks: dict[str, Json]) -> bool:
    seen = [c for name, c in checks.items() if name.endswith(".foreign") and c["verdict"] != "skip"]
    return bool(seen) and all(c["verdict"] == "pass" and c["observed"]["evicted"] == [] for c in seen)


@pytest.mark.req("V12", "V2", "V3", "V4")
def test_one_gpu_is_never_exceeded(outputs: StackOutputs, tmp_path: Path) -> None:
    tags = "fractional_gpu,over_quota,reclaim,gang,coexistence"
    checks, lines = bounded(outputs, tmp_path, tags, maxGpus=1)
    assert failed(checks) == set()
    assert verdicts(checks, "fractional_gpu", "coexistence") == {"pass"}
    assert verdicts(checks, "over_quota", "reclaim", "gang") == {"skip"}
    for check, needed in (("over_quota.limit", 6), ("reclaim.fill", outputs.capacityGpus)):
        assert f"it needs validation.maxGpus {needed}" in checks[check]["reason"]
    most, _ = timeline.held(lines)
    assert most == 1
    assert nobody_was_evicted(checks)


@pytest.mark.req("V12", "V9")
def test_four_gpus_are_enough_for_these_and_never_exceeded(outputs: StackOutputs, tmp_path: Path) -> None:
    tags = "reclaim,priority,topology,fair_share_over_time,monitoring"
    checks, lines = bounded(outputs, tmp_path, tags, maxGpus=4)
    assert failed(checks) == set()
    assert verdicts(checks, "priority", "fair_share_over_time", "monitoring") == {"pass"}
    assert verdicts(checks, "reclaim", "topology") == {"skip"}
    most, _ = timeline.held(lines)
    assert 2 <= most <= 4
    assert nobody_was_evicted(checks)


@contextmanager
def pool(kubectl: Kubectl, outputs: StackOutputs, node: str, folder: Path) -> Iterator[Json]:
    """A node pool of one node with a scheduler and a project of its own; outputs that tell of them."""
    labels = {"app.kubernetes.io/managed-by": "runai-kit", outputs.nodePoolLabelKey: POOL}
    gpus = outputs.expectedGpus[node]
    share = {"quota": 2, "limit": gpus, "overQuotaWeight": 1}
    unbounded = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    resources = {"gpu": share, "cpu": unbounded, "memory": unbounded}

    def queue(name: str, **spec: Any) -> Json:
        return {
            "apiVersion": "scheduling.run.ai/v2",
            "kind": "Queue",
            "metadata": {"name": name, "labels": labels},
            "spec": {**spec, "resources": resources},
        }

    shard = {
        "apiVersion": "kai.scheduler/v1",
        "kind": "SchedulingShard",
        "metadata": {"name": POOL},
        "spec": {"partitionLabelValue": POOL, "placementStrategy": outputs.placement.model_dump()},
    }
    items = [shard, queue(f"{POOL}-department"), queue(POOL, parentQueue=f"{POOL}-department")]
    file = folder / "pool.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    told = {"deserved": 2, "limit": gpus, "overQuotaWeight": 1}
    department = {"name": POOL, "queue": f"{POOL}-department", "gpu": told, "nodePool": POOL}
    project = {
        "name": POOL,
        "department": POOL,
        "namespace": outputs.projects[0].namespace,
        "queue": POOL,
        "gpu": told,
        "nodePool": POOL,
    }
    raw = outputs.model_dump()
    try:
        kubectl("apply", "-f", str(file), "-o", "json")
        patch(kubectl, "node", node, {"metadata": {"labels": {outputs.nodePoolLabelKey: POOL}}})
        yield {
            "departments": [*raw["departments"], department],
            "projects": [*raw["projects"], project],
        }
    finally:
        patch(kubectl, "node", node, {"metadata": {"labels": {outputs.nodePoolLabelKey: None}}})
        for name in (POOL, f"{POOL}-department"):
            call(outputs, "delete", "queues.scheduling.run.ai", name, "--ignore-not-found")
        call(outputs, "delete", SHARD, POOL, "--ignore-not-found")


@pytest.mark.req("V12", "V9")
def test_nothing_leaves_the_pool_that_tests_are_bound_to(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    node = sorted(name for name, gpus in outputs.expectedGpus.items() if gpus)[-1]
    tags = "fractional_gpu,over_quota,reclaim,gang,node_pools,fair_share_over_time"
    with pool(kubectl, outputs, node, tmp_path) as changes:
        checks, lines = bounded(outputs, tmp_path, tags, changes, nodePool=POOL)
        labels = kubectl("get", "node", node)["metadata"]["labels"]
    assert failed(checks) == set()
    assert verdicts(checks, "fractional_gpu", "reclaim", "gang", "fair_share_over_time") == {"pass"}
    assert verdicts(checks, "over_quota", "node_pools") == {"skip"}
    assert "two departments with a GPU limit" in checks["over_quota.limit"]["reason"]
    most, nodes = timeline.held(lines)
    assert nodes == {node}
    assert most <= outputs.expectedGpus[node]
    assert labels[outputs.nodePoolLabelKey] == POOL, "a test that borrows the node puts it back into its pool"
    assert nobody_was_evicted(checks)
