"""What a cluster says about itself, replayed from a real one."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from components.runai.dependencies import optional, reasons, state

CAPTURE: dict[str, Any] = json.loads(
    (Path(__file__).parent / "control_plane" / "captures" / "cluster-connected.json").read_text()
)


@pytest.mark.req("I5")
def test_a_connected_cluster_has_no_reasons_and_tells_what_it_could_have() -> None:
    assert state(CAPTURE) == "Connected"
    assert reasons(CAPTURE) == []
    # An unavailable AMD stack beside NVIDIA's, and flags below an available Knative, are no lack.
    assert optional(CAPTURE) == [
        "optional/lws: LeaderWorkerSet CRD is not installed in the cluster",
        "optional/mpi: Namespace validation failed: mpi operator not found in the cluster",
        "optional/mpi/suspend: not available",
    ]


@pytest.mark.req("I5")
def test_each_missing_prerequisite_is_told_with_its_reason() -> None:
    cluster = copy.deepcopy(CAPTURE)
    status = cluster["status"]
    status["state"] = "MissingPrerequisites"
    stack = status["dependencies"]["required"]["gpu-stack"]
    stack["available"] = stack["components"]["nvidia"]["available"] = False
    metrics = stack["components"]["nvidia"]["components"]["nvidia-metrics"]
    metrics |= {"available": False, "reason": "no DCGM exporter"}
    status["operands"]["agent"] |= {"ready": False, "reasons": ["CrashLoopBackOff"]}
    status["conditions"][1] |= {"status": "False", "message": "gpu-stack is missing"}
    assert reasons(cluster) == [
        "state MissingPrerequisites",
        "required/gpu-stack/amd: daemonset amd-gpu-device-plugin-daemonset not found in the cluster",
        "required/gpu-stack/nvidia/nvidia-metrics: no DCGM exporter",
        "operand agent: CrashLoopBackOff",
        "condition DependenciesFulfilled: gpu-stack is missing",
    ]


@pytest.mark.req("I5")
def test_a_cluster_that_never_reported_is_waited_for() -> None:
    assert reasons({"status": {"state": "WaitingToConnect"}}) == ["state WaitingToConnect"]
    assert reasons({}) == ["state Unknown"]
