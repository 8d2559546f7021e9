"""HAProxy's own pods and Services, for the configuration that is rendered here."""

from __future__ import annotations

from typing import Any

from components.haproxy.inputs import SERVICE
from components.haproxy.rendered import CERTIFICATES, HTTP, HTTPS, INTERNAL
from components.kai.inputs import RESTRICTED_CONTEXT

APP = {"app.kubernetes.io/name": SERVICE}
CONFIG = "haproxy-config"
_USER = 65532
# Until every kube-proxy knows that the pod goes; then no new connection is taken, and open ones end.
_LEAVE = "sleep 5; kill -USR1 1; sleep {wait}"


def deployment_spec(
    image: str, replicas: int, wait_seconds: int, secrets: dict[str, str], checksum: object, pull_secret: str
) -> dict[str, Any]:
    """`secrets` is use → name of its Secret; `checksum` changes with configuration and certificates."""
    probe = {"httpGet": {"path": "/healthz", "port": INTERNAL}, "periodSeconds": 2}
    mounts = [
        {"name": "config", "mountPath": "/etc/haproxy-kit", "readOnly": True},
        {"name": "certificates", "mountPath": CERTIFICATES, "readOnly": True},
    ]
    container = {
        "name": SERVICE,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        # In the foreground, one process: the pod's log is its log.
        "command": ["haproxy", "-db", "-f", "/etc/haproxy-kit/haproxy.cfg"],
        "ports": [
            {"name": "http", "containerPort": HTTP},
            {"name": "https", "containerPort": HTTPS},
            {"name": "metrics", "containerPort": INTERNAL},
        ],
        "readinessProbe": probe,
        "livenessProbe": probe | {"periodSeconds": 10, "failureThreshold": 6},
        "lifecycle": {"preStop": {"exec": {"command": ["/bin/sh", "-c", _LEAVE.format(wait=wait_seconds)]}}},
        "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": RESTRICTED_CONTEXT | {"runAsUser": _USER, "readOnlyRootFilesystem": True},
        "volumeMounts": mounts,
    }
    pull = {"imagePullSecrets": [{"name": pull_secret}]} if pull_secret else {}
    pod = {
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": wait_seconds + 30,
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": CONFIG}}, _certificates(secrets)],
        **pull,
    }
    return {
        "replicas": replicas,
        "selector": {"matchLabels": APP},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "template": {
            "metadata": {"labels": APP, "annotations": {"runai-kit.io/config-checksum": checksum}},
            "spec": pod,
        },
    }


def _certificates(secrets: dict[str, str]) -> dict[str, Any]:
    """HAProxy looks for the key of `x.pem` in `x.pem.key`."""
    sources = [
        {
            "secret": {
                "name": name,
                "items": [
                    {"key": "tls.crt", "path": f"{use}.pem"},
                    {"key": "tls.key", "path": f"{use}.pem.key"},
                ],
            }
        }
        for use, name in secrets.items()
    ]
    return {"name": "certificates", "projected": {"sources": sources}}


def service_spec(https_port: int) -> dict[str, Any]:
    """From outside: a node's address and its port, or an address of the cluster's load balancer."""
    return {
        "type": "NodePort",
        "selector": APP,
        "ports": [
            {"name": "http", "port": 80, "targetPort": HTTP},
            {"name": "https", "port": https_port, "targetPort": HTTPS},
        ],
    }


def metrics_spec() -> dict[str, Any]:
    """For Prometheus: inside only."""
    return {
        "type": "ClusterIP",
        "selector": APP,
        "ports": [{"name": "metrics", "port": INTERNAL, "targetPort": INTERNAL}],
    }
