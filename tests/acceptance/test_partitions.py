"""V9 in both directions: what is declared n/a fails where the cluster offers it.

Each change is taken back whatever happens. Waiting is cut short by outputs with a lower time-out.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.changing import call, run
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, patch
from validation.settings import StackOutputs

pytestmark = pytest.mark.usefixtures("looked_at")


@pytest.mark.req("V9")
@pytest.mark.negative("partitions.mig", "partitions.dra")
def test_a_declared_na_fails_where_the_cluster_offers_mig_or_dra(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    node = next(name for name, count in outputs.expectedGpus.items() if count > 0)
    mig = "nvidia.com/mig-1g.10gb"
    driver = "gpu.example.com"
    devices = [
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": driver}, "spec": {}},
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{node}-{driver}"},
            "spec": {
                "driver": driver,
                "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "gpu-0"}],
            },
        },
    ]
    file = tmp_path / "devices.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": devices}))

    def offer(amount: str | None) -> None:
        status = {"status": {"capacity": {mig: amount}, "allocatable": {mig: amount}}}
        patch(kubectl, "node", node, status, "--subresource=status")

    try:
        kubectl("apply", "-f", str(file), "-o", "json")
        offer("1")
        checks = run("partitions", outputs, tmp_path, timeout=10)
    finally:
        offer(None)
        for kind, name in (("resourceslice", f"{node}-{driver}"), ("deviceclass", driver)):
            call(outputs, "delete", kind, name, "--ignore-not-found")
    assert {"partitions.mig", "partitions.dra"} <= failed(checks)
    for check in ("partitions.mig", "partitions.dra"):
        assert "declared n/a" in checks[check]["reason"]
        assert "could run" in checks[check]["reason"]
    assert checks["partitions.cleanup"]["verdict"] == "pass"
