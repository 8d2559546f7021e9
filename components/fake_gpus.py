"""Pretended GPUs: RuntimeClass nvidia, and an agent per node that plays device plugin and DCGM exporter."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet
from pulumi_kubernetes.core.v1 import ConfigMap, Service, ServiceAccount
from pulumi_kubernetes.node.v1 import RuntimeClass
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding

from components.catalog import Part
from components.config.sections import FakeGpus as FakeGpuSettings
from components.labels import metadata

NAME = "fake-gpu"
# What the agent writes on its nodes (local/fake-gpu/internal/node/labels.go), whatever was there.
LABELS = (
    "run.ai/fake.gpu",
    "nvidia.com/gpu.present",
    "nvidia.com/gpu.product",
    "nvidia.com/gpu.memory",
    "nvidia.com/gpu.count",
    "nvidia.com/gpu.replicas",
    "nvidia.com/gpu.sharing-strategy",
    "nvidia.com/mig.capable",
    "nvidia.com/vgpu.present",
    "nvidia.com/cuda.driver-version.full",
    "nvidia.com/cuda.driver-version.major",
    "nvidia.com/cuda.driver-version.minor",
    "nvidia.com/cuda.driver-version.revision",
)
EXPORTER = "nvidia-dcgm-exporter"
METRICS_PORT = 9400
_APP = {"app": NAME}
# Host path → mount path; the kubelet's sockets, and the file that the runtime wrapper reads.
_HOST_PATHS = {
    "device-plugins": "/var/lib/kubelet/device-plugins",
    "pod-resources": "/var/lib/kubelet/pod-resources",
    "run": "/run/fake-gpu",
}


def agent_config(settings: FakeGpuSettings) -> str:
    """The agent's config.json: mode, default, and per node only what differs."""
    return json.dumps(
        {
            "mode": settings.mode,
            "default": settings.default.model_dump(by_alias=True),
            "nodes": {
                name: node.model_dump(by_alias=True, exclude_none=True)
                for name, node in sorted(settings.nodes.items())
            },
        },
        sort_keys=True,
    )


class FakeGpus(pulumi.ComponentResource):
    """Everything in namespace gpu-operator that pretends; `ready` resolves with the agents running."""

    ready: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        settings: FakeGpuSettings,
        part: Part,
        image: str,
        reservation_namespace: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("runai-kit:components:FakeGpus", name, None, opts)
        self._child = pulumi.ResourceOptions(parent=self)
        namespace = part.namespace()
        runtime = RuntimeClass("nvidia", metadata=metadata("nvidia"), handler="nvidia", opts=self._child)
        account = ServiceAccount(NAME, metadata=metadata(NAME, namespace), opts=self._child)
        rights = self._rights(namespace, reservation_namespace)
        text = agent_config(settings)
        config = ConfigMap(
            NAME, metadata=metadata(NAME, namespace), data={"config.json": text}, opts=self._child
        )
        daemon_set = DaemonSet(
            NAME,
            metadata=metadata(NAME, namespace, _APP, {"pulumi.com/timeoutSeconds": "180"}),
            spec=_daemon_set(settings, image, hashlib.sha256(text.encode()).hexdigest()),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[runtime, account, config, *rights]),
        )
        Service(
            EXPORTER,
            metadata=metadata(
                # Headless: each node's exporter is scraped for itself. No pods to wait for in the way.
                EXPORTER,
                namespace,
                {"app": EXPORTER},
                {"pulumi.com/skipAwait": "true"},
            ),
            spec={
                "clusterIP": "None",
                "selector": _APP,
                "ports": [{"name": "gpu-metrics", "port": METRICS_PORT, "targetPort": METRICS_PORT}],
            },
            opts=self._child,
        )
        self.ready = daemon_set.id
        self.register_outputs({})

    def _rights(self, namespace: str, reservation_namespace: str) -> list[pulumi.Resource]:
        """Read pods, label and annotate nodes, and write to pods only where KAI reserves GPUs."""
        subject = [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}]
        group = "rbac.authorization.k8s.io"
        return [
            ClusterRole(
                NAME,
                metadata=metadata(NAME),
                rules=cluster_rules(),
                opts=self._child,
            ),
            ClusterRoleBinding(
                NAME,
                metadata=metadata(NAME),
                role_ref={"api_group": group, "kind": "ClusterRole", "name": NAME},
                subjects=subject,
                opts=self._child,
            ),
            Role(
                f"{NAME}-reservation",
                metadata=metadata(NAME, reservation_namespace),
                rules=[_rule("pods", "patch")],
                opts=self._child,
            ),
            RoleBinding(
                f"{NAME}-reservation",
                metadata=metadata(NAME, reservation_namespace),
                role_ref={"api_group": group, "kind": "Role", "name": NAME},
                subjects=subject,
                opts=self._child,
            ),
        ]


def cluster_rules() -> list[dict[str, Any]]:
    """What the agents may do in the whole cluster: mark their nodes, see who uses their GPUs."""
    return [_rule("nodes", "get", "list", "watch", "patch"), _rule("pods", "get", "list", "watch")]


def _rule(resource: str, *verbs: str) -> dict[str, Any]:
    return {"apiGroups": [""], "resources": [resource], "verbs": list(verbs)}


def _daemon_set(settings: FakeGpuSettings, image: str, checksum: str) -> dict[str, Any]:
    volumes = [
        {"name": key, "hostPath": {"path": path, "type": "DirectoryOrCreate"}}
        for key, path in _HOST_PATHS.items()
    ]
    mounts = [{"name": key, "mountPath": path} for key, path in _HOST_PATHS.items()]
    probe = {"httpGet": {"path": "/healthz", "port": METRICS_PORT}, "periodSeconds": 2}
    container = {
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/fake-gpu", "node"],
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "ports": [{"name": "gpu-metrics", "containerPort": METRICS_PORT}],
        "readinessProbe": probe,
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        # The kubelet's sockets belong to root.
        "securityContext": {"runAsUser": 0, "allowPrivilegeEscalation": False},
        "volumeMounts": [*mounts, {"name": "config", "mountPath": "/etc/fake-gpu", "readOnly": True}],
    }
    return {
        "selector": {"matchLabels": _APP},
        "template": {
            # A mounted ConfigMap changes without a restart; the checksum makes its change a rollout.
            "metadata": {"labels": _APP, "annotations": {"runai-kit.io/config-checksum": checksum}},
            "spec": {
                "serviceAccountName": NAME,
                "nodeSelector": dict(settings.node_selector),
                "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
                "terminationGracePeriodSeconds": 5,
                "containers": [container],
                "volumes": [*volumes, {"name": "config", "configMap": {"name": NAME}}],
            },
        },
    }
