"""kube-state-metrics beside the operator's bundle; kube-prometheus-stack brings its own."""

from __future__ import annotations

import hashlib

import pulumi
import yaml
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import ConfigMap, Service, ServiceAccount
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding

from components.catalog import Part
from components.labels import metadata
from components.prometheus import state_metrics as ksm

_RBAC = "rbac.authorization.k8s.io"


class StateMetrics(pulumi.ComponentResource):
    """One replica in the part's namespace, with the custom metrics of KAI's kinds."""

    def __init__(
        self,
        name: str,
        part: Part,
        mirror: str,
        queue_key: str,
        pull_secret: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("runai-kit:components:StateMetrics", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        namespace = part.namespace()
        text = yaml.safe_dump(ksm.custom_resources(), sort_keys=False)
        before = [
            ConfigMap(
                ksm.NAME, metadata=metadata(ksm.NAME, namespace), data={"config.yaml": text}, opts=child
            ),
            ServiceAccount(ksm.NAME, metadata=metadata(ksm.NAME, namespace), opts=child),
            ClusterRole(ksm.NAME, metadata=metadata(ksm.NAME), rules=ksm.rules(), opts=child),
            ClusterRoleBinding(
                ksm.NAME,
                metadata=metadata(ksm.NAME),
                role_ref={"apiGroup": _RBAC, "kind": "ClusterRole", "name": ksm.NAME},
                subjects=[{"kind": "ServiceAccount", "name": ksm.NAME, "namespace": namespace}],
                opts=child,
            ),
        ]
        checksum = hashlib.sha256(text.encode()).hexdigest()
        image = part.image("kube-state-metrics", mirror)
        labels = {"app": ksm.NAME}
        Deployment(
            ksm.NAME,
            metadata=metadata(ksm.NAME, namespace, labels, {"pulumi.com/timeoutSeconds": "180"}),
            spec={
                "replicas": 1,
                "selector": {"matchLabels": labels},
                # Two at a time would count everything twice.
                "strategy": {"type": "Recreate"},
                "template": ksm.pod(image, queue_key, checksum, pull_secret),
            },
            opts=pulumi.ResourceOptions(parent=self, depends_on=before),
        )
        Service(
            ksm.NAME,
            metadata=metadata(ksm.NAME, namespace, labels, {"pulumi.com/skipAwait": "true"}),
            spec={
                "selector": labels,
                "ports": [{"name": "http-metrics", "port": ksm.PORT, "targetPort": "http-metrics"}],
            },
            opts=child,
        )
        self.register_outputs({})
