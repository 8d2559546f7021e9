"""What the double makes of a workload in the cluster: plain objects that the installed KAI schedules.

The product does this with resources and controllers of its own; here queue and namespace have to be there.
"""

from __future__ import annotations

from typing import Any

from tests.contract.control_plane.rendered.inference import inference
from tests.contract.control_plane.rendered.training import training
from tests.contract.control_plane.rendered.workspace import workspace

Json = dict[str, Any]
_RENDER = {"Training": training, "Workspace": workspace, "Inference": inference}


def objects(workload: Json) -> list[Json]:
    """The objects of a workload, in the order of making."""
    return _RENDER[workload["type"]](workload)
