"""PackageInstalls that a cluster has, and Packages that it offers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from components.cluster import Cluster
from components.labels import ours

Json = dict[str, Any]
INSTALLS = ("packaging.carvel.dev", "v1alpha1", "packageinstalls")
_PACKAGES = ("data.packaging.carvel.dev", "v1alpha1", "packages")
# Where the Supervisor's add-on management puts its PackageInstalls into a workload cluster.
ADD_ONS = "vmware-system-tkg"


@dataclass(frozen=True)
class Installed:
    """A PackageInstall; `package` is what it refers to, `version` what it asks for."""

    package: str
    namespace: str
    name: str
    version: str
    ours: bool

    @property
    def owner(self) -> str:
        """Who keeps it, for messages."""
        if self.ours:
            return f"this kit's PackageInstall {self.namespace}/{self.name}"
        made = " (the Supervisor's add-on management)" if self.namespace == ADD_ONS else ""
        return f"PackageInstall {self.namespace}/{self.name}{made}"


@dataclass(frozen=True)
class Offered:
    """A version of a package with the schema of its data values, empty where it tells none."""

    package: str
    version: str
    schema: Json = field(default_factory=dict)


def installed(cluster: Cluster, package: str) -> list[Installed]:
    """Every PackageInstall of a package, by namespace and name; none without the Carvel kinds."""
    found = [_install(item) for item in cluster.custom_objects(*INSTALLS)]
    return sorted((i for i in found if i.package == package), key=lambda i: (i.namespace, i.name))


def offered(cluster: Cluster, package: str) -> list[Offered]:
    """Every version that the cluster's package repositories have."""
    specs = [item["spec"] for item in cluster.custom_objects(*_PACKAGES)]
    return [
        Offered(package, spec["version"], (spec.get("valuesSchema") or {}).get("openAPIv3") or {})
        for spec in specs
        if spec["refName"] == package
    ]


def _install(item: Json) -> Installed:
    meta, reference = item["metadata"], item["spec"].get("packageRef") or {}
    wanted = (reference.get("versionSelection") or {}).get("constraints", "")
    return Installed(
        reference.get("refName", ""),
        meta["namespace"],
        meta["name"],
        wanted,
        ours(meta.get("labels") or {}),
    )
