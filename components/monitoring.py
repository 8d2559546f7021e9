"""Monitoring: Prometheus by the operator's bundle or by kube-prometheus-stack, and its scrape targets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import yaml
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import ConfigMap, Secret, ServiceAccount
from pulumi_kubernetes.helm.v3 import Release
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding

from components.catalog import Part
from components.charts import ChartSource
from components.kai.inputs import QUEUE_LABEL
from components.labels import metadata
from components.prometheus import bundle as upstream
from components.prometheus import dashboards, kubelet, rules
from components.prometheus.instance import ADDITIONAL, INSTANCE, SCRAPE_RULES, instance
from components.prometheus.plan import Plan
from components.prometheus.scrape import Monitor
from components.prometheus.stack import values
from components.state_metrics import StateMetrics

_RBAC = "rbac.authorization.k8s.io"
_API = "monitoring.coreos.com/v1"


@dataclass(frozen=True)
class MonitoringInputs:
    """The plan with what it takes to carry it out; `root` is the project."""

    plan: Plan
    source: ChartSource
    root: Path
    mirror: str
    pull_secret: str


class Monitoring(pulumi.ComponentResource):
    """Prometheus in namespace monitoring, what it scrapes, its alerts, and dashboards for Grafana."""

    def __init__(
        self, name: str, inputs: MonitoringInputs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("runai-kit:components:Monitoring", name, None, opts)
        self._child = pulumi.ResourceOptions(parent=self)
        self._inputs, self._plan = inputs, inputs.plan
        self._settings = self._plan.settings.monitoring
        self._namespace = self._plan.namespace
        self._part = self._plan.catalog.parts[self._plan.parts["monitoring"]]
        served = self._bundle() if self._settings.source == "bundle" else self._chart()
        for monitor in self._plan.monitors:
            self._monitor(monitor, served)
        for file in self._plan.rules:
            self._object("PrometheusRule", f"runai-kit-{file}", rules.spec(file), served)
        for board in self._plan.dashboards:
            self._dashboard(board)
        self.register_outputs({})

    def _after(self, *resources: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(resources))

    def _chart(self) -> Release:
        inputs = self._inputs
        return Release(
            self._part.name,
            name=self._part.name,
            namespace=self._namespace,
            values=values(self._settings, self._part, inputs.mirror, inputs.pull_secret),
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
        if "stateMetrics" in self._plan.parts:
            self._state_metrics()
        return crds

    def _state_metrics(self) -> None:
        part = self._plan.catalog.parts[self._plan.parts["stateMetrics"]]
        inputs = self._inputs
        StateMetrics("state-metrics", part, inputs.mirror, QUEUE_LABEL, inputs.pull_secret, self._child)

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
        prometheus = self._plan.catalog.parts[self._plan.parts["prometheus"]]
        name = f"prometheus-{INSTANCE}"
        account = ServiceAccount(name, metadata=metadata(name, self._namespace), opts=self._child)
        rights = self._cluster_rights(name, [*SCRAPE_RULES, *kubelet.rules(self._settings)])
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
            spec=instance(self._settings, image, prometheus.version, inputs.pull_secret),
            opts=self._after(operator, account, *rights, *self._scrapes()),
        )

    def _scrapes(self) -> list[pulumi.Resource]:
        if not self._plan.kubelet:
            return []
        name, key = ADDITIONAL["name"], ADDITIONAL["key"]
        text = yaml.safe_dump(self._plan.kubelet, sort_keys=False)
        return [
            Secret(name, metadata=metadata(name, self._namespace), string_data={key: text}, opts=self._child)
        ]

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

    def _monitor(self, monitor: Monitor, served: pulumi.Resource) -> None:
        self._object(monitor.kind, monitor.name, monitor.spec, served, f"monitor-{monitor.name}")

    def _object(
        self, kind: str, name: str, spec: dict[str, Any], served: pulumi.Resource, resource: str = ""
    ) -> None:
        CustomResource(
            resource or name,
            api_version=_API,
            kind=kind,
            metadata=metadata(name, self._namespace),
            spec=spec,
            opts=self._after(served),
        )

    def _dashboard(self, board: str) -> None:
        name = dashboards.object_name(board)
        ConfigMap(
            name,
            metadata=metadata(name, self._namespace, dashboards.LABEL),
            data=dashboards.data(board),
            opts=self._child,
        )
