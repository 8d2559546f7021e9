"""Kinds of workloads: where the API takes them, the CLI's word, and what of a description they state."""

from __future__ import annotations

from dataclasses import dataclass

API = "/api/v1/workloads"
_COMMON = frozenset(
    {
        *("name", "role", "project", "queue", "namespace", "kind", "image", "command"),
        *("gpus", "gpuFraction", "gpuMemory", "largeShm", "cpu", "memory", "environment"),
        *("labels", "annotations", "priorityClass", "pvcs", "files", "nodeSelector"),
    }
)


@dataclass(frozen=True)
class Kind:
    """A kind of the suite: `type` in the API's lists, `word` of the CLI, preemptible by default or not."""

    name: str
    path: str
    type: str
    word: str
    preemptible: bool
    states: frozenset[str]


TRAINING = Kind(
    "training", f"{API}/trainings", "Training", "training standard", True, _COMMON | {"pods", "retries"}
)
WORKSPACE = Kind(
    "workspace", f"{API}/workspaces", "Workspace", "workspace", False, _COMMON | {"port", "probePath"}
)
INFERENCE = Kind(
    "inference",
    f"{API}/inferences",
    "Inference",
    "inference",
    False,
    _COMMON
    | {"port", "probePath", "minReplicas", "maxReplicas", "windowSeconds", "initializationTimeoutSeconds"},
)
KINDS = {kind.name: kind for kind in (TRAINING, WORKSPACE, INFERENCE)}
TYPES = {kind.type: kind for kind in KINDS.values()}
