"""One VKS package: its data values and the PackageInstall, waited for until kapp has reconciled it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi
import yaml
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import Secret

from components.labels import metadata

_RECONCILED = {
    "pulumi.com/waitFor": "condition=ReconcileSucceeded",
    # kapp itself gives up on a Deployment after ten minutes.
    "pulumi.com/timeoutSeconds": "900",
}


@dataclass(frozen=True)
class PackageInputs:
    """`package` is the repository's name; `account` the ServiceAccount that kapp acts as."""

    package: str
    version: str
    namespace: str
    account: str
    values: dict[str, Any]


class Package(pulumi.ComponentResource):
    """A PackageInstall with its values; `name` is its own and the component's."""

    def __init__(self, name: str, inputs: PackageInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("runai-kit:components:VksPackage", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        # A Secret because the PackageInstall asks for one; nothing in it is secret.
        values = Secret(
            f"{name}-values",
            metadata=metadata(f"{name}-values", inputs.namespace),
            string_data={"values.yml": yaml.safe_dump(inputs.values, sort_keys=False)},
            opts=child,
        )
        CustomResource(
            name,
            api_version="packaging.carvel.dev/v1alpha1",
            kind="PackageInstall",
            metadata=metadata(name, inputs.namespace, annotations=_RECONCILED),
            spec={
                "serviceAccountName": inputs.account,
                "packageRef": {
                    "refName": inputs.package,
                    "versionSelection": {"constraints": inputs.version},
                },
                "values": [{"secretRef": {"name": f"{name}-values"}}],
            },
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[values])),
        )
        self.register_outputs({})
