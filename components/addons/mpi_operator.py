"""Kubeflow's MPI Operator: MPI jobs in version v2beta1, which Run:ai asks for."""

from __future__ import annotations

from pathlib import Path

import pulumi

from components.addons.inputs import AddonInputs
from components.addons.kubeflow import KubeflowOperator
from components.charts import ChartSource

NAME = "mpi-operator"


class MpiOperator(KubeflowOperator):
    """The only one that defines MPI jobs."""

    def __init__(
        self,
        inputs: AddonInputs,
        source: ChartSource,
        root: Path,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(NAME, inputs, source, root, opts)
