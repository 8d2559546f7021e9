"""V9: partitions: observations against expectations, right and wrong."""

from __future__ import annotations

import pytest

from tests.unit.validation.beds import workers
from tests.unit.validation.double import pod, thing
from validation import names
from validation.compare import differences
from validation.expect import partitions as expect_partitions
from validation.observe import partitions


@pytest.mark.req("V9")
def test_devices_that_the_cluster_offers_are_found_and_asked_for() -> None:
    cluster = workers(4)
    nothing = partitions.offered(cluster.at())
    assert partitions.applicable(partitions.choice(nothing)) == {
        "partitions.mig": False,
        "partitions.dra": False,
    }
    cluster.objects[names.NODES][0]["status"]["allocatable"]["nvidia.com/mig-1g.10gb"] = "7"
    cluster.add(names.DEVICE_CLASSES, thing("gpu.nvidia.com", spec={}), thing("other.example.org", spec={}))
    found = partitions.offered(cluster.at())
    # A class alone is no device.
    assert partitions.choice(found) == {"mig": "nvidia.com/mig-1g.10gb", "deviceClass": ""}
    devices = {"driver": "gpu.nvidia.com", "devices": [{"name": "gpu-0"}]}
    cluster.add(names.RESOURCE_SLICES, thing("s", spec=devices))
    chosen = partitions.choice(partitions.offered(cluster.at()))
    assert partitions.applicable(chosen) == {"partitions.mig": True, "partitions.dra": True}


@pytest.mark.req("V9")
def test_pods_with_parts_of_gpus_pass_and_an_idle_claim_does_not() -> None:
    cluster = workers(4).add(
        names.PODS,
        pod("runai-kit-mig", test="partitions", role="mig"),
        pod("runai-kit-dra", test="partitions", role="dra"),
    )
    cluster.said["runai-kit-mig"] = (
        "GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 1g.10gb Device 0: (UUID: MIG-58f1c0e3)"
    )
    claim = thing("c", "runai-team-a", status={"allocation": {"devices": {}}, "reservedFor": [{"name": "x"}]})
    claim["metadata"]["ownerReferences"] = [{"name": "runai-kit-dra"}]
    cluster.add(names.RESOURCE_CLAIMS, claim)
    offered = partitions.offered(cluster.at())
    wanted, found = expect_partitions.expected(), partitions.observe(cluster.at(), offered)
    assert {c for c in wanted if differences(wanted[c], found[c])} == set()
    cluster.said["runai-kit-mig"] = "GPU 0: NVIDIA A100 (UUID: GPU-1)"
    claim["status"] = {}
    found = partitions.observe(cluster.at(), offered)
    assert {c for c in wanted if differences(wanted[c], found[c])} == set(wanted)
