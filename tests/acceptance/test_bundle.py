"""The support bundle of the live cluster: it has what helps, and a planted secret is nowhere in it."""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.acceptance.changing import call
from tests.acceptance.conftest import ROOT, Kubectl
from validation.outputs import from_file, from_stack
from validation.settings import StackOutputs

pytestmark = pytest.mark.req("I14")
Json = dict[str, Any]
NAME = "runai-kit-canary"


def bundle(folder: Path, *options: str, **environment: str) -> tuple[str, dict[str, str]]:
    """(what was told, files by path) of a bundle as people make it."""
    target = folder / "bundle.tar.gz"
    stack = os.environ.get("KIT_STACK", "local")
    command = [sys.executable, "-m", "day2.bundle", stack, "--out", str(target), *options]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(target) as archive:
        streams = {m.name.partition("/")[2]: archive.extractfile(m) for m in archive.getmembers()}
        return done.stdout, {name: stream.read().decode() for name, stream in streams.items() if stream}


@pytest.fixture
def canary(kubectl: Kubectl, outputs: StackOutputs) -> Iterator[str]:
    """A word in a Secret, a variable, annotations, URLs and a log, of a part and of a project."""
    word = f"canary+{secrets.token_urlsafe(18)}/="
    spaces = [outputs.ingress.namespace, outputs.projects[0].namespace]
    for space in spaces:
        for obj in (_secret(space, word), _pod(space, word)):
            call(outputs, "create", "-f", "-", body=obj)
    try:
        for space in spaces:
            words = [
                "wait",
                "pod",
                NAME,
                "-n",
                space,
                "--for=jsonpath={.status.phase}=Succeeded",
                "--timeout=50s",
            ]
            call(outputs, *words)
        yield word
    finally:
        for space in spaces:
            for kind in ("pod", "secret"):
                call(outputs, "delete", kind, NAME, "-n", space, "--ignore-not-found", "--grace-period=0")


def _secret(space: str, word: str) -> Json:
    metadata = {"name": NAME, "namespace": space}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"word": word}}


def _pod(space: str, word: str) -> Json:
    url = f"https://bob:{quote(word, safe='')}@example.test/?token={word}"
    container = {
        "name": "talk",
        "image": "docker.io/library/busybox:latest",
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", 'echo "begin $PLAIN end"; echo "$ADDRESS"; printf %s "$PLAIN" | base64'],
        "env": [{"name": "PLAIN", "value": word}, {"name": "ADDRESS", "value": url}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    context = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    annotations = {"example.test/note": f"it is {word}", "kubernetes.io/description": url}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "namespace": space, "annotations": annotations},
        "spec": {"restartPolicy": "Never", "securityContext": context, "containers": [container]},
    }


def test_a_planted_secret_is_nowhere_in_it(outputs: StackOutputs, canary: str, tmp_path: Path) -> None:
    told, files = bundle(tmp_path, "--workload-logs")
    space = outputs.ingress.namespace
    log = files[f"namespaces/{space}/logs/{NAME}.talk.log"]
    assert "begin" in log, "the canary's log was read, so that it had to be cleaned"
    assert NAME in files[f"namespaces/{space}/pods.json"]
    assert NAME in files[f"namespaces/{outputs.projects[0].namespace}/pods.json"]
    forms = {canary, quote(canary), quote(canary, safe=""), base64.b64encode(canary.encode()).decode()}
    for name, text in {**files, "console": told}.items():
        assert not [form for form in forms if form in text], name
    every = (
        "kit/versions.json",
        "kit/settings.yaml",
        "kit/values.json",
        "kit/outputs.json",
        "cluster/nodes.json",
    )
    kinds = (
        "cluster/configs.json",
        "cluster/queues.json",
        "cluster/schedulingshards.json",
        "cluster/crds.json",
    )
    for path in (*every, *kinds, "prometheus/targets.json", "prometheus/alerts.json"):
        assert path in files, path
    assert json.loads(files["index.json"])["files"].keys() == files.keys() - {"index.json"}


def test_an_unreachable_cluster_leaves_what_lies_beside_it(tmp_path: Path, outputs: StackOutputs) -> None:
    file = os.environ.get("KIT_OUTPUTS_FILE")
    raw = from_file(Path(file)) if file else from_stack(os.environ.get("KIT_STACK", "local"), ROOT)
    config = json.loads(
        subprocess.run(
            ["kubectl", "config", "view", "--raw", "-o", "json", "--kubeconfig", outputs.kubeconfig],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    for cluster in config["clusters"]:
        cluster["cluster"]["server"] = "https://127.0.0.1:9"
    nowhere, changed = tmp_path / "kubeconfig", tmp_path / "outputs.json"
    nowhere.write_text(json.dumps(config))
    changed.write_text(json.dumps({**raw, "kubeconfig": str(nowhere)}))
    begun = time.monotonic()
    told, files = bundle(tmp_path, KIT_OUTPUTS_FILE=str(changed))
    assert time.monotonic() - begun < 200
    assert "missing: cluster/: API server of context" in told
    assert "does not answer" in told
    assert "kit/settings.yaml" in files
