"""A workspace as a StatefulSet of one, and a Service that leads to its gate.

The product puts a proxy before every exposed address, which sends people without a session to the control
plane's login. Nobody can log in to the double: its gate only sends away.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.contract.control_plane.rendered.pod import WORKLOAD, confined, labels, marks, pod

Json = dict[str, Any]
GATE = 8889
_PROGRAM = Path(__file__).with_name("gate.py").read_text(encoding="utf-8")


def workspace(workload: Json) -> list[Json]:
    """Service and StatefulSet. The Service has the workload's name, by which the ingress finds it."""
    mine = labels(workload)
    meta = {"name": workload["name"], "namespace": workload["namespace"], "labels": mine}
    chosen = {WORKLOAD: workload["id"]}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta,
        "spec": {"selector": chosen, "ports": [{"name": "http", "port": 80, "targetPort": GATE}]},
    }
    running = pod(workload) | {"terminationGracePeriodSeconds": 2}
    if workload["spec"].get("exposedUrls"):
        running["containers"].append(_gate(workload))
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": meta,
        "spec": {
            "replicas": 1,
            "serviceName": workload["name"],
            "selector": {"matchLabels": chosen},
            "template": {
                "metadata": {"labels": mine, "annotations": marks(workload)},
                "spec": running,
            },
        },
    }
    return [service, stateful] if workload["spec"].get("exposedUrls") else [stateful]


def _gate(workload: Json) -> Json:
    """Runs in the workspace's own image, which has Python where a kernel of Python is asked for."""
    return {
        "name": "gate",
        "image": workload["spec"]["image"],
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-c", _PROGRAM, str(GATE), workload["login"]],
        "ports": [{"containerPort": GATE}],
        "readinessProbe": {"tcpSocket": {"port": GATE}, "periodSeconds": 1},
        "securityContext": confined(),
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
    }
