"""Which driver states a submit: driver `runai` where the control plane can, else the cluster itself.

Tests of the scheduler make queues of their own, gangs and node pools, which the API knows nothing of.
The tests of the guide went through the control plane where their checks `<test>.control_plane` pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from validation.runai.requests import refusal
from validation.settings import StackOutputs

Json = dict[str, Any]


def choose(items: Sequence[Json], outputs: StackOutputs, wanted: str) -> str:
    """`wanted`, or kai for workloads that the control plane cannot be told of."""
    if wanted != "runai":
        return wanted
    queues = {project.name: project.queue for project in outputs.projects}
    own = any(item.get("queue", queue) != queue for item in items if (queue := queues.get(item["project"])))
    unstated = any(refusal({"kind": "training", **item}) for item in items)
    return "kai" if own or unstated else wanted
