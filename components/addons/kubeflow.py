"""Kubeflow's operators, which are published as manifests: their objects as resources, in order."""

from __future__ import annotations

from pathlib import Path

import pulumi

from components.addons.base import Addon
from components.addons.inputs import AddonInputs
from components.addons.manifests import Manifests, fit, read
from components.charts import ChartSource
from components.objects import declare


class KubeflowOperator(Addon):
    """CRDs → accounts and rights → the operator → its webhooks. CRDs stay when the stack goes.

    The part is the Training Operator (PyTorch, TensorFlow, XGBoost, Paddle, JAX jobs; MPI's only when it is
    alone) or the MPI Operator (MPI jobs in version v2beta1, which Run:ai asks for).
    """

    def __init__(
        self,
        inputs: AddonInputs,
        source: ChartSource,
        root: Path,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(inputs.part.name, inputs, source, opts)
        found = manifests(inputs, root / inputs.settings.charts.directory)
        kept = pulumi.ResourceOptions(retain_on_delete=True)
        after = [
            declare(obj, pulumi.ResourceOptions.merge(self.child([]), kept), self._unique(obj))
            for obj in found.crds
        ]
        for group in (found.ground, found.deployments, found.last):
            if group:
                after = [declare(obj, self.child([*after]), self._unique(obj)) for obj in group]
        self.register_outputs({})

    def _unique(self, obj: dict[str, object]) -> str:
        meta = obj["metadata"]
        assert isinstance(meta, dict)
        return f"{self._name}-{str(obj['kind']).lower()}-{meta['name']}"


def manifests(inputs: AddonInputs, charts: Path) -> Manifests:
    """The objects of the part's file in folder `charts`. Raises OSError or ManifestError."""
    chart = inputs.part.chart
    assert chart is not None
    training = inputs.part.name == "training-operator"
    without_mpi = training and inputs.settings.mpi_operator.enabled
    return fit(read(charts / chart.file), inputs, without_mpi)
