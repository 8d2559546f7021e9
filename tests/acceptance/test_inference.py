"""Inference and Model Streamer: cluster or input is changed, and the right check must fail and say why."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import looked, seen
from tests.acceptance.conftest import ROOT, Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, in_background, patch
from validation import names
from validation.foreign import foreign_ca
from validation.settings import StackOutputs

pytestmark = pytest.mark.usefixtures("looked_at")

Json = dict[str, Any]
ANSWERS = {"models", "chat", "tokens", "stream", "wrong_model", "load"}
# Ready for Knative, and a web server of another kind for everybody else.
OTHER_SERVER = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Welcome(BaseHTTPRequestHandler):
    def do_GET(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-length", "7")
        self.end_headers()
        self.wfile.write(b"Welcome")
    do_POST = do_GET
ThreadingHTTPServer(("", 8000), Welcome).serve_forever()
"""


@pytest.fixture
def raw_outputs(outputs: StackOutputs) -> Json:
    """Outputs as a file may hold them."""
    return outputs.model_dump()


@pytest.fixture
def prove(raw_outputs: Json, tmp_path: Path) -> Callable[..., tuple[set[str], dict[str, Json], float]]:
    """(failed checks of the test, all checks, seconds) of one playbook with changed input."""

    def run(
        test: str, inference: Json, variables: Json, **changes: Any
    ) -> tuple[set[str], dict[str, Json], float]:
        bounds = raw_outputs["validation"]
        bounds = {**bounds, "inference": {**bounds["inference"], **inference}}
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps({**raw_outputs, "validation": bounds, **changes}))
        folder = tmp_path / "report"
        command = [
            "ansible-playbook",
            "-i",
            f"inventory/{raw_outputs['environment']}",
            f"validation/{test}.yml",
        ]
        variables = {"kit_report_dir": str(folder), **looked.before(raw_outputs), **variables}
        environment = {**os.environ, "KIT_OUTPUTS_FILE": str(file)}
        begun = time.monotonic()
        done = subprocess.run(
            [*command, "-e", json.dumps(variables)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        report = folder / "report.json"
        assert report.exists(), done.stdout[-3000:] + done.stderr[-1000:]
        checks = {c["id"]: c for c in json.loads(report.read_text())["checks"]}
        seen.note(checks)
        bad = {name.partition(".")[2] for name in failed(checks) if name.startswith(f"{test}.")}
        assert done.returncode == (1 if failed(checks) else 0) or done.returncode == 2, done.stdout[-2000:]
        return bad, checks, time.monotonic() - begun

    return run


@pytest.fixture(autouse=True)
def nothing_left(kubectl: Kubectl) -> Iterator[None]:
    """Whatever went wrong, the suite took everything with it."""
    yield
    selector = f"{names.PART_OF_LABEL}={names.PART_OF}"
    kinds = (
        "services.serving.knative.dev,revisions.serving.knative.dev,routes.serving.knative.dev,"
        "ingresses.networking.internal.knative.dev,deployments,jobs,pods,services,secrets,persistentvolumeclaims"
    )
    left = kubectl("get", kinds, "-A", "-l", selector)["items"]
    assert [f"{t['kind']} {t['metadata']['name']}" for t in left] == []
    groups = kubectl("get", "podgroups.scheduling.run.ai", "-A")["items"]
    assert [g["metadata"]["name"] for g in groups if names.WORKLOAD_PREFIX in g["metadata"]["name"]] == []


def reasons(checks: dict[str, Json], test: str, which: set[str]) -> str:
    return "\n".join(checks[f"{test}.{name}"]["reason"] for name in sorted(which))


@pytest.mark.req("V5")
@pytest.mark.negative(
    "vllm_inference.models",
    "vllm_inference.chat",
    "vllm_inference.tokens",
    "vllm_inference.stream",
    "vllm_inference.wrong_model",
    "vllm_inference.load",
    "vllm_inference.scale_to_zero",
    "vllm_inference.cold_start",
)
def test_another_server_is_not_taken_for_a_model(prove: Callable[..., Any]) -> None:
    command = ["python3", "-c", OTHER_SERVER]
    bad, checks, _ = prove("vllm_inference", {"minReplicas": 1}, {"vllm_inference_command": command})
    # With a replica kept, what needs none cannot be looked at, and nobody declared that.
    assert bad == ANSWERS | {"scale_to_zero", "cold_start"}
    assert "no JSON: 'Welcome'" in checks["vllm_inference.models"]["reason"]
    assert "declare vllm_inference.cold_start n/a" in checks["vllm_inference.cold_start"]["reason"]
    for good in ("ready", "scheduled", "tls", "cleanup"):
        assert checks[f"vllm_inference.{good}"]["verdict"] == "pass"


@contextmanager
def damaged_model(kubectl: Kubectl, outputs: StackOutputs) -> Iterator[str]:
    """A claim as a customer might have it: all files of the model are there, one broke off."""
    name, where = "damaged-models", ("-n", outputs.projects[-1].namespace)
    script = "cp -r /seed/models/. /data/ && truncate -s 20M /data/tiny-chat/model.safetensors"
    confined = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {
        "name": "main",
        "image": outputs.images["seed"],
        "command": ["bash", "-c", script],
        "securityContext": confined,
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    person = {"runAsNonRoot": True, "runAsUser": 65532, "fsGroup": 65532}
    spec = {
        "restartPolicy": "Never",
        "nodeSelector": {"nvidia.com/gpu.present": "true"},
        "securityContext": {**person, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}],
    }
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    meta = {"name": name, "namespace": where[1]}
    things = [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": claim},
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec},
    ]
    base = ["kubectl", "--context", outputs.context, "--kubeconfig", outputs.kubeconfig]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": things})
    try:
        subprocess.run([*base, "create", "-f", "-"], input=text, text=True, check=True, timeout=60)
        succeeded = "--for=jsonpath={.status.phase}=Succeeded"
        subprocess.run(
            [*base, *where, "wait", "pod", name, succeeded, "--timeout=90s"], check=True, timeout=100
        )
        subprocess.run([*base, *where, "delete", "pod", name], check=True, timeout=60)
        yield name
    finally:
        gone = [*base, *where, "delete", f"pod/{name}", f"persistentvolumeclaim/{name}", "--ignore-not-found"]
        subprocess.run(gone, check=True, timeout=90)


@pytest.mark.req("V5")
@pytest.mark.negative("vllm_inference.ready")
def test_a_damaged_model_never_becomes_ready_and_is_named(
    prove: Callable[..., Any], kubectl: Kubectl, outputs: StackOutputs
) -> None:
    with damaged_model(kubectl, outputs) as claim:
        bad, checks, seconds = prove(
            "vllm_inference", {"pvc": claim, "initializationTimeoutSeconds": 120}, {}
        )
    assert {"ready", *ANSWERS} <= bad
    assert checks["vllm_inference.cleanup"]["verdict"] == "pass"
    why = checks["vllm_inference.ready"]["reason"]
    assert "afetensor" in why, why
    assert "did not run" in checks["vllm_inference.chat"]["reason"]
    # A container that fails over and over is no slow start.
    assert seconds < 170


@contextmanager
def no_scaling_to_zero(kubectl: Kubectl, namespace: str) -> Iterator[None]:
    """Knative as a careless administrator may set it."""
    where = ("-n", namespace)
    key = "enable-scale-to-zero"
    before = kubectl("get", "configmap", "config-autoscaler", *where)["data"].get(key)
    patch(kubectl, "configmap", "config-autoscaler", {"data": {key: "false"}}, *where)
    try:
        yield
    finally:
        patch(kubectl, "configmap", "config-autoscaler", {"data": {key: before}}, *where)


@pytest.mark.req("V5")
@pytest.mark.negative(
    "vllm_inference.tls",
    "vllm_inference.scale_to_zero",
    "vllm_inference.models",
    "vllm_inference.chat",
    "vllm_inference.tokens",
    "vllm_inference.stream",
    "vllm_inference.wrong_model",
    "vllm_inference.load",
)
def test_a_wrong_ca_and_a_pod_that_stays(
    prove: Callable[..., Any], kubectl: Kubectl, outputs: StackOutputs
) -> None:
    with no_scaling_to_zero(kubectl, outputs.inference.namespace):
        bad, checks, _ = prove("vllm_inference", {"windowSeconds": 6}, {}, tls={"ca": foreign_ca()})
    assert bad == ANSWERS | {"tls", "scale_to_zero", "cold_start"}
    for name in ("tls", "models", "chat", "stream"):
        assert "certificate was not accepted" in checks[f"vllm_inference.{name}"]["reason"]
    assert "pods: expected 0, found 1" in checks["vllm_inference.scale_to_zero"]["reason"]
    for good in ("ready", "scheduled", "cleanup"):
        assert checks[f"vllm_inference.{good}"]["verdict"] == "pass"


@contextmanager
def no_gateway(kubectl: Kubectl, namespace: str) -> Iterator[None]:
    """Kourier's Envoy is gone; its controller is there."""
    where = ("-n", namespace)
    found = kubectl("get", "deployment", "3scale-kourier-gateway", *where)
    replicas = found["spec"]["replicas"]
    scale = ("scale", "deployment", "3scale-kourier-gateway", *where, "-o", "json")
    kubectl(*scale, "--replicas=0")
    try:
        yield
    finally:
        kubectl(*scale, f"--replicas={replicas}")
        end = time.monotonic() + 90
        while (
            kubectl("get", "deployment", "3scale-kourier-gateway", *where)["status"].get("readyReplicas")
            != replicas
        ):
            assert time.monotonic() < end, "the gateway did not come back within 90 s"
            time.sleep(1)


@pytest.mark.req("V5")
@pytest.mark.negative("vllm_inference.ready")
def test_without_a_gateway_the_service_is_not_ready(
    prove: Callable[..., Any], kubectl: Kubectl, outputs: StackOutputs
) -> None:
    with no_gateway(kubectl, outputs.inference.namespace):
        bad, checks, seconds = prove("vllm_inference", {"initializationTimeoutSeconds": 45}, {})
    assert {"ready", *ANSWERS} <= bad
    assert checks["vllm_inference.cleanup"]["verdict"] == "pass"
    why = checks["vllm_inference.ready"]["reason"]
    assert "RoutesReady" in why, why
    assert seconds < 300


@pytest.mark.req("I12", "I13")
@pytest.mark.negative("model_streamer.s3")
def test_one_changed_byte_is_found_in_its_tensor_and_keys_stay_in_the_secret(
    prove: Callable[..., Any], kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    file = "/data/tiny-chat/model.safetensors"
    last = f"printf X | dd of={file} bs=1 seek=$(( $(stat -c %s {file}) - 1 )) conv=notrunc"
    command = ["bash", "-c", f"cp -r /seed/models/. /data/ && {last}"]
    keys: set[str] = set()

    def look(stop: threading.Event) -> None:
        """The keys exist only while the test runs."""
        while not keys and not stop.wait(0.5):
            for secret in kubectl("get", "secrets", "-n", outputs.projects[0].namespace)["items"]:
                if secret["metadata"]["name"] == "runai-kit-s3-keys":
                    keys.update(base64.b64decode(value).decode() for value in secret["data"].values())

    with in_background(look):
        bad, checks, _ = prove("model_streamer", {}, {"model_streamer_seed_command": command})
    # The volume's own two reads agree; what S3 serves is the whole file.
    assert bad == {"s3"}
    assert "different: expected []" in checks["model_streamer.s3"]["reason"]
    assert len(checks["model_streamer.s3"]["observed"]["different"]) == 1
    assert len(keys) == 2
    files = [path for path in (tmp_path / "report").rglob("*") if path.is_file()]
    assert any(path.name == "pods.json" for path in files)
    assert [path.name for path in files for key in keys if key in path.read_text(errors="replace")] == []
