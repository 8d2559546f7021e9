"""Kinds of workloads: where they are submitted, and what the product assumes of one by default."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """`type` as lists of workloads tell it; priority and its class are the defaults of the documentation."""

    path: str
    type: str
    priority: int
    priority_class: str
    preemptible: bool


TRAINING = Kind("trainings", "Training", 40, "low", True)
WORKSPACE = Kind("workspaces", "Workspace", 125, "high", False)
INFERENCE = Kind("inferences", "Inference", 150, "very-high", False)
KINDS = {kind.type: kind for kind in (TRAINING, WORKSPACE, INFERENCE)}
