"""Knative 1.20 → 1.21 by `pulumi up`, under a running service: no request fails."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import call
from tests.acceptance.conftest import Kubectl
from tests.acceptance.traffic import Traffic, traffic
from tests.acceptance.upgrading import up
from validation import names
from validation.cluster import Cluster
from validation.ingress import Ingress, find
from validation.settings import StackOutputs

pytestmark = pytest.mark.scratch
Json = dict[str, Any]
OLD = "1.20.1"
NAME = "runai-kit-upgrade"
# Answers, and goes when it is told to.
SERVER = """
import signal, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Word(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"here")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
ThreadingHTTPServer(("", 8080), Word).serve_forever()
"""


def service(outputs: StackOutputs) -> Json:
    """A Service with one replica that KAI schedules in the project's queue; it needs no GPU."""
    project = outputs.projects[0]
    container = {
        "image": outputs.images["seed"],
        "command": ["python3", "-c", SERVER],
        "ports": [{"containerPort": 8080}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
    }
    template = {
        "metadata": {
            "labels": {outputs.queueLabelKey: project.queue},
            "annotations": {"autoscaling.knative.dev/min-scale": "1"},
        },
        "spec": {
            "schedulerName": outputs.schedulerName,
            "timeoutSeconds": 30,
            "containers": [container],
        },
    }
    labels = {names.PART_OF_LABEL: names.PART_OF, names.TEST_LABEL: "upgrade"}
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": NAME, "namespace": project.namespace, "labels": labels},
        "spec": {"template": template},
    }


def until(condition: Callable[[], Any], what: str, seconds: float = 120) -> None:
    """Wait for a condition; an AssertionError names what did not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds:g} s"
        time.sleep(1)


def images(kubectl: Kubectl, namespace: str, *selector: str) -> set[str]:
    """`name:tag` of all containers of the pods that are not on their way out."""
    pods = kubectl("get", "pods", "-n", namespace, *selector)["items"]
    return {
        container["image"].rpartition("/")[2]
        for pod in pods
        if "deletionTimestamp" not in pod["metadata"]
        for container in pod["spec"]["containers"]
    }


def sidecars(kubectl: Kubectl, namespace: str, *selector: str) -> set[str]:
    """Only the queue-proxies among the images."""
    return {image for image in images(kubectl, namespace, *selector) if image.startswith("queue:")}


@pytest.fixture
def cluster(outputs: StackOutputs) -> Cluster:
    """The cluster as the suite reads it."""
    return Cluster(outputs.kubeconfig, outputs.context)


@pytest.fixture
def ingress(cluster: Cluster, outputs: StackOutputs) -> Ingress:
    """Where the stack answers from outside."""
    return find(cluster, outputs)


@pytest.fixture
def running(kubectl: Kubectl, outputs: StackOutputs) -> Iterator[Callable[[], str]]:
    """Makes the Service, waits until it is ready, and gives its URL; it is gone afterwards."""
    namespace = outputs.projects[0].namespace

    def make() -> str:
        call(outputs, "apply", "-f", "-", body=service(outputs))
        call(outputs, "wait", f"ksvc/{NAME}", "-n", namespace, "--for=condition=Ready", "--timeout=60s")
        return str(kubectl("get", "ksvc", NAME, "-n", namespace)["status"]["url"])

    try:
        yield make
    finally:
        call(outputs, "delete", "ksvc", NAME, "-n", namespace, "--ignore-not-found", "--wait")
        pods = ("get", "pods", "-n", namespace, "-l", f"serving.knative.dev/service={NAME}")
        until(lambda: not kubectl(*pods)["items"], "the Service's pods are gone")


@pytest.mark.req("I14", "I7")
def test_an_upgrade_fails_no_request(
    kubectl: Kubectl,
    outputs: StackOutputs,
    ingress: Ingress,
    running: Callable[[], str],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    namespace, new = outputs.projects[0].namespace, outputs.inference.version
    assert new != OLD
    mine = ("-l", f"serving.knative.dev/service={NAME}")
    try:
        up(tmp_path, knative={"version": OLD})
        url = running()
        assert f"queue:v{OLD}" in images(kubectl, namespace, *mine)
        assert f"controller:v{OLD}" in images(kubectl, outputs.inference.namespace)
        with traffic(ingress, url) as seen:
            time.sleep(5)
            begun = time.monotonic()
            up(tmp_path)
            seconds = time.monotonic() - begun
            # The service itself is rolled, too: the new controller gives it the new queue-proxy.
            until(lambda: sidecars(kubectl, namespace, *mine) == {f"queue:v{new}"}, "the service is rolled")
            time.sleep(5)
    finally:
        up(tmp_path)
    told = f"Knative {OLD} → {new}: up {seconds:.0f} s; {seen}"
    record_property("upgrade", told)
    with capsys.disabled():
        print(f"\n{told}")
    for name in ("activator", "autoscaler", "controller", "webhook"):
        assert f"{name}:v{new}" in images(kubectl, outputs.inference.namespace)
    # The same revision all the time: nobody had to deploy anything again.
    revisions = kubectl("get", "revisions.serving.knative.dev", "-n", namespace, *mine)["items"]
    assert [item["metadata"]["name"] for item in revisions] == [f"{NAME}-00001"]
    assert seen.sent >= 5 * seconds, told
    assert seen.failed == {}, told


@pytest.mark.req("I14")
def test_a_gap_would_be_seen(outputs: StackOutputs, ingress: Ingress, running: Callable[[], str]) -> None:
    """The same traffic while Kourier's gateway is away for a moment."""
    url = running()
    gateway = ("-n", outputs.inference.namespace, "deployment/3scale-kourier-gateway")
    seen = Traffic()
    try:
        with traffic(ingress, url) as seen:
            time.sleep(2)
            call(outputs, "scale", *gateway, "--replicas=0")
            time.sleep(25)
            call(outputs, "scale", *gateway, "--replicas=1")
            call(outputs, "rollout", "status", *gateway, "--timeout=60s")
            time.sleep(3)
    finally:
        call(outputs, "scale", *gateway, "--replicas=1")
    assert seen.failed, str(seen)
    assert "503" in seen.failed, json.dumps(seen.failed)
    assert seen.statuses["200"] > 0
