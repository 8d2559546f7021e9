"""What people run while the platform is taken away: a Service that does not listen, a job on half a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.acceptance import things
from tests.acceptance.changing import call
from tests.acceptance.conftest import Json, Kubectl
from validation.settings import StackOutputs

SLEEP = ["python3", "-c", "import time; time.sleep(3600)"]
# Ignores the polite signal: Knative then waits as long as a request may take, five minutes.
DEAF = """
import http.server, os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
http.server.HTTPServer(("", int(os.environ["PORT"])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def service(outputs: StackOutputs, namespace: str) -> Json:
    """A Service of Knative whose server does not end when it is asked to."""
    container = {"image": outputs.images["inference"], "command": ["python3", "-c", DEAF]}
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": "deaf", "namespace": namespace},
        "spec": {
            "template": {
                "metadata": {"annotations": {"autoscaling.knative.dev/min-scale": "1"}},
                "spec": {"containers": [container | {"imagePullPolicy": "IfNotPresent"}]},
            }
        },
    }


def job(outputs: StackOutputs, namespace: str, queue: str) -> Json:
    """A job that holds half a GPU until somebody ends it."""
    container = {
        "name": "main",
        "image": outputs.images["pytorch"],
        "imagePullPolicy": "IfNotPresent",
        "command": SLEEP,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "half", "namespace": namespace},
        "spec": {
            "template": {
                "metadata": {
                    "labels": {outputs.queueLabelKey: queue},
                    "annotations": {"gpu-fraction": "0.5"},
                },
                "spec": {
                    "schedulerName": outputs.schedulerName,
                    "restartPolicy": "Never",
                    "containers": [container],
                },
            }
        },
    }


def config_map(name: str, namespace: str, **metadata: object) -> Json:
    """Somebody's ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "data": {"somebodys": "notes"},
    }


def create(outputs: StackOutputs, *bodies: Json) -> None:
    """Create objects, as somebody who is not the kit."""
    for body in bodies:
        call(outputs, "create", "-f", "-", body=body)


def running(kubectl: Kubectl, namespace: str) -> set[str]:
    """Names of a namespace's running pods."""
    pods = kubectl("get", "pods", "-n", namespace)["items"]
    return {pod["metadata"]["name"] for pod in pods if pod["status"].get("phase") == "Running"}


def wait(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds:g} s"
        time.sleep(0.5)


def plain_pod(outputs: StackOutputs, kubectl: Kubectl, namespace: str) -> None:
    """A new pod starts: no webhook and no scheduler that is gone stands in its way."""
    body = things.pod("new", outputs.images["cuda"])
    create(outputs, body | {"metadata": {"name": "new", "namespace": namespace}})
    try:
        wait(lambda: "new" in running(kubectl, namespace), "a new pod runs")
    finally:
        call(outputs, "delete", "pod", "new", "-n", namespace, "--wait=true")
