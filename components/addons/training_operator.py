"""Kubeflow's Training Operator: PyTorch, TensorFlow, XGBoost, Paddle and JAX jobs; MPI's only when alone."""

from __future__ import annotations

from pathlib import Path

import pulumi

from components.addons.inputs import AddonInputs
from components.addons.kubeflow import KubeflowOperator
from components.charts import ChartSource

NAME = "training-operator"


class TrainingOperator(KubeflowOperator):
    """With the MPI Operator in the stack it neither defines nor watches MPI jobs."""

    def __init__(
        self,
        inputs: AddonInputs,
        source: ChartSource,
        root: Path,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(NAME, inputs, source, root, opts)
