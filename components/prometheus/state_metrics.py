"""kube-state-metrics: objects of the cluster as metrics, KAI's Queues and PodGroups among them."""

from __future__ import annotations

from typing import Any

from components.labels import PROJECT_KEY
from components.prometheus.scrape import STATE_METRICS_APP

Json = dict[str, Any]

NAME = STATE_METRICS_APP
PORT, TELEMETRY_PORT = 8080, 8081
USER = 65534
# API group → resources that dashboards and alerts ask for. Not secrets, not config maps.
KINDS = {
    "": ("nodes", "namespaces", "pods"),
    "apps": ("daemonsets", "deployments", "statefulsets"),
    "batch": ("jobs",),
}
ANNOTATIONS = ["pods=[gpu-fraction,gpu-memory]"]
_GROUP = "scheduling.run.ai"
_GPU = "nvidia.com/gpu"


def label_allowlist(queue_key: str) -> list[str]:
    """Labels of objects that become labels of kube_namespace_labels and kube_pod_labels."""
    return [f"namespaces=[{PROJECT_KEY}]", f"pods=[{queue_key},serving.knative.dev/service]"]


def custom_resources() -> Json:
    """kit_queue_* and kit_podgroup_*: limits, parents and requests, which KAI's own metrics lack."""
    queue = {"queue_name": ["metadata", "name"]}
    group = {
        "namespace": ["metadata", "namespace"],
        "podgroup": ["metadata", "name"],
        "queue_name": ["spec", "queue"],
    }
    return {
        "kind": "CustomResourceStateMetrics",
        "spec": {
            "resources": [
                _resource(
                    "v2",
                    "Queue",
                    "kit_queue",
                    queue,
                    [
                        # With a label of its own, because departments have no parent.
                        _info(
                            "Parent of a queue, empty for a department.",
                            {**queue, "parent": ["spec", "parentQueue"]},
                        ),
                        _gauge(
                            "limit_gpus", "GPUs that the queue may hold, -1 without a limit.", _spec("limit")
                        ),
                        _gauge(
                            "requested_gpus",
                            "GPUs that running and waiting pods ask for.",
                            _status("requested"),
                        ),
                    ],
                ),
                _resource(
                    "v2alpha2",
                    "PodGroup",
                    "kit_podgroup",
                    group,
                    [
                        _gauge("requested_gpus", "GPUs that a workload asks for.", _held("requested")),
                        _gauge("allocated_gpus", "GPUs that a workload holds.", _held("allocated")),
                    ],
                ),
            ]
        },
    }


def _resource(version: str, kind: str, prefix: str, labels: Json, metrics: list[Json]) -> Json:
    return {
        "groupVersionKind": {"group": _GROUP, "version": version, "kind": kind},
        "metricNamePrefix": prefix,
        "labelsFromPath": labels,
        "metrics": metrics,
    }


def _info(text: str, labels: Json) -> Json:
    return {"name": "info", "help": text, "each": {"type": "Info", "info": {"labelsFromPath": labels}}}


def _gauge(name: str, text: str, path: list[str]) -> Json:
    # A status that lacks the resource has none of it.
    return {
        "name": name,
        "help": text,
        "each": {"type": "Gauge", "gauge": {"path": path, "nilIsZero": True}},
    }


def _spec(field: str) -> list[str]:
    return ["spec", "resources", "gpu", field]


def _status(field: str) -> list[str]:
    return ["status", field, _GPU]


def _held(field: str) -> list[str]:
    return ["status", "resourcesStatus", field, _GPU]


def rules() -> list[Json]:
    """Rights: list and watch what is told about, and the kinds that custom metrics wait for."""
    verbs = ["list", "watch"]
    return [
        *({"apiGroups": [api], "resources": list(kinds), "verbs": verbs} for api, kinds in KINDS.items()),
        *custom_rules(),
    ]


def custom_rules() -> list[Json]:
    """The part of the rights that custom metrics need."""
    verbs = ["list", "watch"]
    return [
        {"apiGroups": [_GROUP], "resources": ["queues", "podgroups"], "verbs": verbs},
        {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": verbs},
    ]


def arguments(queue_key: str, config: str) -> list[str]:
    """Command line; `config` is the path of the custom metrics' file."""
    kinds = ",".join(kind for group in KINDS.values() for kind in group)
    return [
        f"--port={PORT}",
        f"--telemetry-port={TELEMETRY_PORT}",
        f"--resources={kinds}",
        f"--metric-labels-allowlist={','.join(label_allowlist(queue_key))}",
        f"--metric-annotations-allowlist={','.join(ANNOTATIONS)}",
        f"--custom-resource-state-config-file={config}",
    ]


def pod(image: str, queue_key: str, checksum: str, pull_secret: str) -> Json:
    """Pod template of the Deployment; a changed configuration is a rollout."""
    folder = "/etc/kube-state-metrics"
    container = {
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(queue_key, f"{folder}/config.yaml"),
        "ports": [
            {"name": "http-metrics", "containerPort": PORT},
            {"name": "telemetry", "containerPort": TELEMETRY_PORT},
        ],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "telemetry"}, "periodSeconds": 5},
        "livenessProbe": {"httpGet": {"path": "/livez", "port": "http-metrics"}, "initialDelaySeconds": 15},
        "resources": {"requests": {"cpu": "10m", "memory": "40Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "config", "mountPath": folder, "readOnly": True}],
    }
    return {
        "metadata": {"labels": {"app": NAME}, "annotations": {"runai-kit.io/config-checksum": checksum}},
        "spec": {
            "serviceAccountName": NAME,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER,
                "runAsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            **({"imagePullSecrets": [{"name": pull_secret}]} if pull_secret else {}),
            "containers": [container],
            "volumes": [{"name": "config", "configMap": {"name": NAME}}],
        },
    }
