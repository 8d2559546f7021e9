"""What all add-ons share: a component whose release or objects wait for the same things."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_kubernetes.helm.v3 import Release

from components.addons.inputs import AddonInputs
from components.charts import ChartSource


class Addon(pulumi.ComponentResource):
    """One part in a namespace of the catalog's. `name` is the component's, and its release's."""

    def __init__(
        self, name: str, inputs: AddonInputs, source: ChartSource, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        kind = "".join(word.capitalize() for word in name.split("-"))
        super().__init__(f"runai-kit:components:{kind}", name, None, opts)
        self.inputs, self._name, self._source = inputs, name, source

    def release(self, values: dict[str, Any], after: list[pulumi.Resource], timeout: int = 600) -> Release:
        """The chart as a Helm release under the component's name; `timeout` in seconds."""
        return Release(
            f"{self._name}-release",
            name=self._name,
            namespace=self.inputs.part.namespace(),
            values=values,
            timeout=timeout,
            # Otherwise the provider leaves out empty lists, and the chart's own would count.
            allow_null_values=True,
            **self._source.arguments(self.inputs.part),
            opts=self.child(after),
        )

    def child(self, after: list[pulumi.Resource]) -> pulumi.ResourceOptions:
        """Options of a resource of this component."""
        return pulumi.ResourceOptions(parent=self, depends_on=after)
