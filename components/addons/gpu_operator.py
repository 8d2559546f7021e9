"""NVIDIA's GPU Operator by its chart, with the vGPU licence, shared devices and DCGM's counters."""

from __future__ import annotations

from pathlib import Path

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap, Secret

from components.addons.base import Addon
from components.addons.gpu_values import (
    COUNTERS,
    DRIVER_SECRET,
    LICENCE_SECRET,
    PLUGIN_CONFIG,
    driver_login,
    licence_data,
    plugin_config,
    values,
)
from components.addons.inputs import AddonInputs
from components.charts import ChartSource
from components.labels import metadata
from components.logins import pull_secret

NAME = "gpu-operator"
# The exporter reads the key of this name.
_CSV = "dcgm-metrics.csv"


class GpuOperatorAddon(Addon):
    """Licence, login, sharing and counters first: the operands fail without the objects that they name."""

    def __init__(
        self,
        inputs: AddonInputs,
        source: ChartSource,
        root: Path,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(NAME, inputs, source, opts)
        before: list[pulumi.Resource] = [self._map(COUNTERS, {_CSV: counters(inputs, root)})]
        if sharing := plugin_config(inputs):
            before.append(self._map(PLUGIN_CONFIG, sharing))
        if inputs.settings.gpu_operator.guest_driver():
            before.append(self._licence())
        if config := driver_login(inputs):
            home = inputs.part.namespace()
            before.append(pull_secret(DRIVER_SECRET, DRIVER_SECRET, home, config, self.child([])))
        # Drivers are compiled on the nodes, which the operator does not wait for, and its images are large.
        self.release(values(inputs), before, timeout=900)
        self.register_outputs({})

    def _map(self, name: str, data: dict[str, str]) -> ConfigMap:
        where = metadata(name, self.inputs.part.namespace())
        return ConfigMap(name, metadata=where, data=data, opts=self.child([]))

    def _licence(self) -> Secret:
        return Secret(
            LICENCE_SECRET,
            metadata=metadata(LICENCE_SECRET, self.inputs.part.namespace()),
            string_data=pulumi.Output.secret(licence_data(self.inputs.settings.gpu_operator)),
            opts=self.child([]),
        )


def counters(inputs: AddonInputs, root: Path) -> str:
    """The CSV of counters: the stack's, or the kit's own. Raises OSError for a file that is not there."""
    own = Path(__file__).with_name(_CSV)
    chosen = inputs.settings.gpu_operator.counters
    return (root / chosen if chosen else own).read_text(encoding="utf-8")
