"""Monitoring: Prometheus by the operator's bundle or by kube-prometheus-stack, and its scrape targets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import ServiceAccount
from pulumi_kubernetes.helm.v3 import Release
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding

from components.catalog import Catalog, Part
from components.charts import ChartSource
from components.config.sections import Monitoring as MonitoringSettings
from components.labels import metadata
from components.prometheus import bundle as upstream
from components.prometheus.instance import INSTANCE, SCRAPE_RULES, instance
from components.prometheus.scrape import dcgm_monitor, kai_monitor
from components.prometheus.stack import values

_RBAC = "rbac.authorization.k8s.io"
_API = "monitoring.coreos.com/v1"


@dataclass(frozen=True)
class MonitoringInputs:
    """Settings with what they refer to; `root` is the project, `dcgm_namespace` empty without an exporter."""

    settings: MonitoringSettings
    catalog: Catalog
    source: ChartSource
    root: Path
    mirror: str
    pull_secret: str
    kai_namespace: str
    dcgm_namespace: str


class Monitoring(pulumi.ComponentResource):
    """Prometheus in namespace monitoring, scraping KAI and the GPU exporter."""

    def __init__(
        self, name: str, inputs: MonitoringInputs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("runai-kit:components:Monitoring", name, None, opts)
        self._child = pulumi.ResourceOptions(parent=self)
        self._inputs = inputs
        bundled = inputs.settings.source == "bundle"
        self._part = inputs.catalog.parts["prometheus-operator" if bundled else "kube-prometheus-stack"]
        self._namespace = self._part.namespace()
        served = self._bundle() if bundled else self._chart()
        interval = inputs.settings.scrape_interval
        self._monitor("kai-scheduler", kai_monitor(inputs.kai_namespace, interval), served)
        if inputs.dcgm_namespace:
            self._monitor("nvidia-dcgm-exporter", dcgm_monitor(inputs.dcgm_namespace, interval), served)
        self.register_outputs({})

    def _after(self, *resources: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(resources))

    def _chart(self) -> Release:
        inputs = self._inputs
        return Release(
            self._part.name,
            name=self._part.name,
            namespace=self._namespace,
            values=values(inputs.settings, self._part, inputs.mirror, inputs.pull_secret),
            timeout=600,
            **inputs.source.arguments(self._part),
            opts=self._child,
        )

    def _bundle(self) -> Release:
        """CRDs, operator and instance; returns what serves the kinds that monitors are made of."""
        inputs = self._inputs
        file = Path(self._chart_file(self._part))
        bundle = upstream.read(inputs.root / file)
        chart = upstream.crd_chart(bundle, (inputs.root / file).parent, self._part.version)
        crds = Release(
            "prometheus-operator-crds",
            name="prometheus-operator-crds",
            namespace=self._namespace,
            chart=str(file.parent / chart.name),
            opts=self._child,
        )
        operator = self._operator(bundle, crds)
        self._instance(operator)
        return crds

    def _chart_file(self, part: Part) -> str:
        return str(self._inputs.source.arguments(part)["chart"])

    def _operator(self, bundle: upstream.Bundle, crds: Release) -> Deployment:
        name = upstream.OPERATOR
        # The mounted token is the pod's choice in the bundle; the account itself offers none by default.
        account = ServiceAccount(
            name,
            metadata=metadata(name, self._namespace),
            automount_service_account_token=False,
            opts=self._child,
        )
        rights = [
            *self._cluster_rights(name, upstream.cluster_rules(bundle)),
            Role(
                name,
                metadata=metadata(name, self._namespace),
                rules=upstream.namespace_rules(bundle),
                opts=self._child,
            ),
            RoleBinding(
                name,
                metadata=metadata(name, self._namespace),
                role_ref={"apiGroup": _RBAC, "kind": "Role", "name": name},
                subjects=self._subjects(name),
                opts=self._child,
            ),
        ]
        image = self._part.image("operator", self._inputs.mirror)
        reloader = self._part.image("config-reloader", self._inputs.mirror)
        spec = upstream.deployment_spec(bundle, self._namespace, image, reloader)
        if self._inputs.pull_secret:
            spec["template"]["spec"]["imagePullSecrets"] = [{"name": self._inputs.pull_secret}]
        return Deployment(
            name,
            metadata=metadata(name, self._namespace, annotations={"pulumi.com/timeoutSeconds": "180"}),
            spec=spec,
            opts=self._after(crds, account, *rights),
        )

    def _instance(self, operator: Deployment) -> CustomResource:
        inputs = self._inputs
        prometheus = inputs.catalog.parts["prometheus"]
        name = f"prometheus-{INSTANCE}"
        account = ServiceAccount(name, metadata=metadata(name, self._namespace), opts=self._child)
        rights = self._cluster_rights(name, SCRAPE_RULES)
        image = prometheus.image("prometheus", inputs.mirror)
        return CustomResource(
            name,
            api_version=_API,
            kind="Prometheus",
            metadata=metadata(
                INSTANCE,
                self._namespace,
                annotations={"pulumi.com/waitFor": "condition=Available", "pulumi.com/timeoutSeconds": "300"},
            ),
            spec=instance(inputs.settings, image, prometheus.version, inputs.pull_secret),
            opts=self._after(operator, account, *rights),
        )

    def _cluster_rights(self, name: str, rules: list[dict[str, Any]]) -> list[pulumi.Resource]:
        return [
            ClusterRole(name, metadata=metadata(name), rules=rules, opts=self._child),
            ClusterRoleBinding(
                name,
                metadata=metadata(name),
                role_ref={"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
                subjects=self._subjects(name),
                opts=self._child,
            ),
        ]

    def _subjects(self, name: str) -> list[dict[str, str]]:
        return [{"kind": "ServiceAccount", "name": name, "namespace": self._namespace}]

    def _monitor(self, name: str, spec: dict[str, Any], served: pulumi.Resource) -> None:
        CustomResource(
            f"monitor-{name}",
            api_version=_API,
            kind="ServiceMonitor",
            metadata=metadata(name, self._namespace),
            spec=spec,
            opts=self._after(served),
        )
