"""A training as a Job."""

from __future__ import annotations

from typing import Any

from tests.contract.control_plane.rendered.pod import labels, marks, pod

Json = dict[str, Any]


def training(workload: Json) -> list[Json]:
    """One Job; its pods are scheduled one by one."""
    spec, mine = workload["spec"], labels(workload)
    running = pod(workload) | {
        "restartPolicy": spec.get("restartPolicy") or "Never",
        "terminationGracePeriodSeconds": 2,
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": workload["name"], "namespace": workload["namespace"], "labels": mine},
        "spec": {
            "backoffLimit": spec.get("backoffLimit") or 0,
            "parallelism": spec.get("parallelism") or 1,
            "completions": spec.get("completions") or 1,
            "template": {
                "metadata": {"labels": mine, "annotations": marks(workload)},
                "spec": running,
            },
        },
    }
    return [job]
