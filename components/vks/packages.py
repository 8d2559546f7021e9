"""The VKS packages that this stack installs, in order: Telegraf reads what Prometheus' parts tell."""

from __future__ import annotations

import pulumi
from pulumi_kubernetes.core.v1 import Service, ServiceAccount
from pulumi_kubernetes.rbac.v1 import ClusterRoleBinding

from components.config.model import Settings
from components.labels import metadata
from components.vks.owners import NAMESPACE, Plan, version
from components.vks.package import Package, PackageInputs
from components.vks.values import DCGM_PORT, DCGM_SERVICE, PROMETHEUS, TELEGRAF, values

ACCOUNT = "runai-kit-packages"
NAMES = {PROMETHEUS: "vks-prometheus", TELEGRAF: "vks-telegraf"}
_RBAC = "rbac.authorization.k8s.io"


class VksPackages(pulumi.ComponentResource):
    """Packages of a plan that installs some, with the account and the Service that they need."""

    def __init__(
        self, name: str, settings: Settings, chosen: Plan, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("runai-kit:components:VksPackages", name, None, opts)
        self._child = pulumi.ResourceOptions(parent=self)
        before: list[pulumi.Resource] = self._account()
        if TELEGRAF in chosen.install and settings.vks_monitoring.dcgm:
            before.append(self._exporters(settings.monitoring.dcgm_namespace))
        for package in chosen.install:
            inputs = PackageInputs(
                package, version(settings, package), NAMESPACE, ACCOUNT, values(package, settings)
            )
            before.append(Package(NAMES[package], inputs, self._after(before)))
        self.register_outputs({})

    def _account(self) -> list[pulumi.Resource]:
        """Packages make namespaces, ClusterRoles and DaemonSets: kapp needs every right for them."""
        account = ServiceAccount(
            ACCOUNT,
            metadata=metadata(ACCOUNT, NAMESPACE),
            automount_service_account_token=False,
            opts=self._child,
        )
        binding = ClusterRoleBinding(
            ACCOUNT,
            metadata=metadata(ACCOUNT),
            role_ref={"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
            subjects=[{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
            opts=self._after([account]),
        )
        return [account, binding]

    def _exporters(self, namespace: str) -> Service:
        """A name that leads to every node's exporter; the operator's own Service to one of them at a time."""
        return Service(
            DCGM_SERVICE,
            metadata=metadata(DCGM_SERVICE, namespace),
            spec={
                "clusterIP": "None",
                "selector": {"app": "nvidia-dcgm-exporter"},
                "ports": [{"name": "gpu-metrics", "port": DCGM_PORT, "targetPort": DCGM_PORT}],
            },
            opts=self._child,
        )

    def _after(self, resources: list[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(resources))
