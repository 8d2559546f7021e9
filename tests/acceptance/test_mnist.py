"""V7's verdicts fail where the training is worthless or its data is broken."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import call
from tests.acceptance.conftest import Kubectl
from tests.acceptance.varied import play
from validation.settings import Project, StackOutputs

Json = dict[str, Any]
# Enough for a look at the running pod, a tenth of the time.
FEW = {"mnist_training_samples": 6000}
CLAIM = "runai-kit-truncated"
TRUNCATE = (
    "cp /seed/mnist/*-ubyte /data/ && "
    "head -c 1000000 /seed/mnist/train-images-idx3-ubyte > /data/train-images-idx3-ubyte"
)


@pytest.mark.req("V7")
def test_the_report_proves_it_live(report: Json) -> None:
    mine = [c for c in report["checks"] if c["requirement"] == "V7"]
    assert mine
    assert {c["verdict"] for c in mine} == {"pass"}
    (loss,) = [c for c in mine if c["id"] == "mnist_training.loss"]
    assert [name for name in loss["evidence"] if name.endswith("loss.svg")]


@pytest.mark.req("V7")
@pytest.mark.parametrize(
    "worthless", [{"mnist_training_learning_rate": 0}, {"mnist_training_shuffle_labels": True}]
)
@pytest.mark.negative("mnist_training.loss", "mnist_training.accuracy")
def test_a_training_that_learns_nothing_fails(worthless: Json, outputs: StackOutputs, tmp_path: Path) -> None:
    failed, checks = play("mnist_training", outputs, tmp_path, {**FEW, **worthless})
    assert failed == {"loss", "accuracy"}
    correct = checks["accuracy"]["observed"]["correct"]
    assert correct < 3000, "guessing gives about a tenth of 10000"


@pytest.fixture
def truncated(kubectl: Kubectl, outputs: StackOutputs) -> Iterator[Project]:
    """A claim in the first project with a data set whose largest file broke off."""
    project = outputs.projects[0]
    if not outputs.images["seed"]:
        pytest.fail("this environment has no seed image (stack output images.seed) to make a claim from")
    where = ("-n", project.namespace)
    things: list[Json] = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": CLAIM, "namespace": project.namespace},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": CLAIM, "namespace": project.namespace},
            "spec": _truncating(outputs.images["seed"]),
        },
    ]
    try:
        for thing in things:
            call(outputs, "apply", "-f", "-", body=thing)
        _until_done(kubectl, *where)
        call(outputs, "delete", "pod", CLAIM, *where)
        yield project
    finally:
        call(outputs, "delete", "pod,pvc", CLAIM, *where, "--ignore-not-found")


def _truncating(image: str) -> Json:
    return {
        "restartPolicy": "Never",
        "nodeSelector": {"nvidia.com/gpu.present": "true"},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "fsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "main",
                "image": image,
                "command": ["bash", "-c", TRUNCATE],
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            }
        ],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}}],
    }


def _until_done(kubectl: Kubectl, *where: str, seconds: int = 90) -> None:
    for _ in range(seconds):
        status = kubectl("get", "pod", CLAIM, *where)["status"]
        if status.get("phase") == "Succeeded":
            return
        assert status.get("phase") != "Failed", json.dumps(status)
        time.sleep(1)
    raise AssertionError(f"pod {CLAIM} did not end within {seconds} s: {json.dumps(status)}")


@pytest.mark.req("V7")
@pytest.mark.negative(
    "mnist_training.completed",
    "mnist_training.dataset",
    "mnist_training.loss",
    "mnist_training.accuracy",
    "mnist_training.last_line",
)
def test_a_truncated_file_is_named(truncated: Project, outputs: StackOutputs, tmp_path: Path) -> None:
    variables = {"mnist_training_project": truncated.name, "mnist_training_claim": CLAIM}
    failed, checks = play("mnist_training", outputs, tmp_path, variables)
    assert {"completed", "dataset", "loss", "accuracy", "last_line"} <= failed
    said = "train-images-idx3-ubyte: found 1000000 bytes, expected 47040016"
    assert said in checks["completed"]["reason"]
    assert checks["cleanup"]["verdict"] == "pass"
