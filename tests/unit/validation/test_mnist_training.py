"""V7's observations against its expectations: right in, pass; any single thing wrong, fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.validation.double import OUTPUTS, UUID_0, UUID_1, Double, group, node, pod, queue, thing
from validation import names, pictures
from validation.compare import differences
from validation.expect import mnist_training as expect
from validation.observe import mnist_training as observe
from validation.settings import load

pytestmark = pytest.mark.req("V7")
Json = dict[str, Any]
NAMESPACE, POD = "runai-team-a", "runai-kit-mnist-train-abcde"
BEFORE: Json = {"allocated": {"team-a": 0}}
DF = "   1B-blocks Type\n  8589934592 tmpfs\n"
LOG = """Device: cpu, 2 threads (PyTorch sees no CUDA device)
PyTorch version: 2.6.0
Shared memory: 8192 MiB
Data set: 60000 + 10000 images, served by file:///data/MNIST/raw
Epoch 1/3 loss=0.2140 time=31.2s
Epoch 2/3 loss=0.0561 time=30.8s
Epoch 3/3 loss=0.0387 time=30.9s
Test accuracy: 9876/10000 (98.8%)
MNIST training completed successfully
"""


class Trained(Double):
    """Answers exec by the command: df of /dev/shm, nvidia-smi."""

    def __init__(self) -> None:
        super().__init__()
        self.df, self.smi = DF, f"GPU 0: NVIDIA A100-SXM4-80GB (UUID: {UUID_0})"

    def execute(self, _namespace: str, pod: str, _command: list[str], *_more: Any, **_given: Any) -> str:
        return self.df if _command[0] == "df" else self.smi

    def logs(self, _namespace: str, pod: str, tail: int = 0, container: str = "") -> str:
        return self.said[pod]


def bed(phase: str = "Running") -> Trained:
    cluster = Trained()
    trained = pod(POD, NAMESPACE, gpus=1, phase=phase, test="mnist_training", role="train")
    trained["spec"]["containers"][0]["volumeMounts"] = [{"name": "shm", "mountPath": "/dev/shm"}]
    trained["spec"]["volumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    cluster.add(
        names.PODS, trained, pod("runai-kit-mnist-data-seed-x", NAMESPACE, test="mnist_training", role="seed")
    )
    cluster.add(names.NODES, node("w1"))
    held = {"resourcesStatus": {"allocated": {"nvidia.com/gpu": "1"}}}
    cluster.add(names.POD_GROUPS, group(POD, "team-a", status=held))
    cluster.add(names.QUEUES, queue("team-a", "engineering", allocated="1" if phase == "Running" else "0"))
    labels = {names.TEST_LABEL: "mnist_training", names.ROLE_LABEL: "train"}
    complete = {"conditions": [{"type": "Complete", "status": "True"}]}
    cluster.add(names.JOBS, thing("runai-kit-mnist-train", NAMESPACE, labels, status=complete))
    cluster.said[POD] = LOG
    target = {"kind": "Pod", "name": "fake-gpu-1", "namespace": "gpu-operator"}
    cluster.add(names.SERVICES, thing("dcgm", "gpu-operator", {"app": "nvidia-dcgm-exporter"}))
    cluster.add(
        names.ENDPOINT_SLICES,
        thing(
            "dcgm-abc",
            "gpu-operator",
            {"kubernetes.io/service-name": "dcgm"},
            endpoints=[{"nodeName": "w1", "targetRef": target}],
            ports=[{"port": 9400}],
        ),
    )
    metrics = "/api/v1/namespaces/gpu-operator/pods/fake-gpu-1:9400/proxy/metrics"
    cluster.texts[metrics] = (
        f'DCGM_FI_DEV_GPU_UTIL{{UUID="{UUID_0}",namespace="{NAMESPACE}",pod="{POD}"}} 90\n'
    )
    return cluster


def verdicts(cluster: Trained, seen: Callable[..., Json]) -> dict[str, list[str]]:
    found = seen(cluster.at(), BEFORE, "team-a")
    wanted = expect.expected(load(OUTPUTS), "team-a", "runai-kit-mnist-data", [])
    return {name: differences(wanted[name], found[name]) for name in found}


def failed(cluster: Trained, seen: Callable[..., Json]) -> set[str]:
    return {name.partition(".")[2] for name, faults in verdicts(cluster, seen).items() if faults}


def test_what_runs_as_it_should_passes() -> None:
    assert verdicts(bed(), observe.running) == {"mnist_training.running": [], "mnist_training.shm": []}


def test_what_ended_as_it_should_passes() -> None:
    assert {
        name: faults for name, faults in verdicts(bed("Succeeded"), observe.finished).items() if faults
    } == {}


def _another_gpu(c: Trained) -> None:
    c.smi = c.smi.replace(UUID_0, UUID_1)


def _two_gpus(c: Trained) -> None:
    c.objects[names.PODS][0]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "2"


def _another_scheduler(c: Trained) -> None:
    c.objects[names.PODS][0]["spec"]["schedulerName"] = "default-scheduler"


def _another_queue(c: Trained) -> None:
    c.objects[names.POD_GROUPS][0]["spec"]["queue"] = "team-b"


def _not_counted(c: Trained) -> None:
    c.objects[names.QUEUES][0]["status"]["allocated"]["nvidia.com/gpu"] = "0"


@pytest.mark.parametrize(
    "change", [_another_gpu, _two_gpus, _another_scheduler, _another_queue, _not_counted]
)
def test_each_wrong_holder_fails(change: Callable[[Trained], None]) -> None:
    cluster = bed()
    change(cluster)
    assert failed(cluster, observe.running) == {"running"}


@pytest.mark.parametrize(
    "df",
    ["1B-blocks Type\n 67108864 tmpfs", "1B-blocks Type\n 8589934592 ext4", "df: command not found", ""],
)
def test_a_small_or_slow_shm_fails(df: str) -> None:
    cluster = bed()
    cluster.df = df
    assert failed(cluster, observe.running) == {"shm"}


def test_an_shm_on_disk_fails_whatever_df_says() -> None:
    cluster = bed()
    cluster.objects[names.PODS][0]["spec"]["volumes"][0]["emptyDir"] = {}
    assert failed(cluster, observe.running) == {"shm"}


def test_without_a_running_pod_the_reason_says_what_there_is() -> None:
    cluster = bed("Failed")
    found = observe.running(cluster.at(), BEFORE, "team-a")
    assert "no running pod of role train" in found["mnist_training.running"]["error"]
    assert "Failed on w1" in found["mnist_training.shm"]["error"]


LOGS: list[tuple[str, str, set[str]]] = [
    ("loss=0.0387", "loss=0.0561", {"loss"}),
    ("loss=0.0387", "loss=nan", {"loss"}),
    ("Epoch 3/3", "Epoche 3/3", {"loss"}),
    ("9876/10000", "9800/10000", {"accuracy"}),
    ("9876/10000", "990/1000", {"accuracy"}),
    ("Test accuracy", "Accuracy", {"accuracy"}),
    ("completed successfully", "stopped", {"last_line"}),
    ("60000 +", "6000 +", {"dataset"}),
    ("file:///data/MNIST/raw", "http://yann.lecun.com/exdb/mnist/", {"dataset"}),
    ("Device: cpu, 2 threads", "GPU: Tesla T4", {"device"}),
]


@pytest.mark.parametrize(("old", "new", "wrong"), LOGS)
def test_each_wrong_line_fails_its_check(old: str, new: str, wrong: set[str]) -> None:
    cluster = bed("Succeeded")
    assert old in LOG
    cluster.said[POD] = LOG.replace(old, new)
    assert failed(cluster, observe.finished) == wrong


def test_a_loss_that_only_jitters_downwards_is_no_learning() -> None:
    seen = observe.printed("".join(f"Epoch {n}/3 loss={2.303 - n / 1e4:.4f} time=9.0s\n" for n in (1, 2, 3)))
    assert seen["mnist_training.loss"]["falls"] is True
    wanted = expect.expected(load(OUTPUTS), "q", "", [])["mnist_training.loss"]
    assert differences(wanted, seen["mnist_training.loss"]) == [
        "lastToFirst: expected atMost 0.5, found 0.9999"
    ]


def test_a_failed_training_is_explained_by_its_last_line() -> None:
    cluster = bed("Failed")
    cluster.said[POD] = "Device: cpu\nerror: train-images-idx3-ubyte: found 1000 bytes, expected 47040016\n"
    cluster.objects[names.JOBS][0]["status"]["conditions"][0]["type"] = "Failed"
    faults = verdicts(cluster, observe.finished)["mnist_training.completed"]
    assert "phase: expected Succeeded, found Failed" in faults
    assert (
        "problem: expected , found error: train-images-idx3-ubyte: found 1000 bytes, expected 47040016"
        in faults
    )


def test_a_job_that_does_not_follow_its_pod_fails() -> None:
    cluster = bed("Succeeded")
    cluster.objects[names.JOBS][0]["status"] = {}
    found = observe.finished(cluster.at(), BEFORE, "team-a", patience=0.1)
    assert found["mnist_training.completed"]["job"] == "neither complete nor failed"


def test_a_gpu_that_is_still_held_fails() -> None:
    cluster = bed("Succeeded")
    cluster.objects[names.QUEUES][0]["status"]["allocated"]["nvidia.com/gpu"] = "1"
    assert failed(cluster, observe.finished) == {"completed"}


def test_real_gpus_have_to_be_used() -> None:
    real = load({**OUTPUTS, "fakeGpus": {"enabled": False}})
    assert expect.expected(real, "q", "", ["http://a/"])["mnist_training.device"] == {"device": "cuda"}


def test_without_a_volume_one_of_the_origins_must_have_served() -> None:
    wanted = expect.expected(load(OUTPUTS), "q", "", ["http://a/", "http://b/"])["mnist_training.dataset"]
    text = "Data set: http://a/ does not serve it, after 1.0 s: refused\n"
    for served, good in (("http://b/", True), ("http://c/", False)):
        seen = observe.printed(f"{text}Data set: 60000 + 10000 images, served by {served}\n")
        assert (differences(wanted, seen["mnist_training.dataset"]) == []) is good
        assert seen["mnist_training.dataset"]["refused"] == ["http://a/"]


def test_the_picture_has_a_value_per_epoch() -> None:
    drawn = pictures.loss_per_epoch([0.214, 0.0561, 0.0387])
    for text in ("0.2140", "0.0561", "0.0387", "epoch", "<svg"):
        assert text in drawn
    assert "<script" not in drawn
    assert pictures.loss_per_epoch([]) == ""
