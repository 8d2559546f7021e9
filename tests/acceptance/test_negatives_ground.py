"""V1 in both directions: a cluster that is no ground for workloads, each check against its own fault.

Faults that do not hide each other are provoked in one run, and exactly their checks must fail, each within
its bound and naming its own cause. Every change is taken back whatever happens; the cluster is compared.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.acceptance import things
from tests.acceptance.broken import Broken, until
from tests.acceptance.hurried import HELD, PROBES, QUICK
from tests.acceptance.proving import Wrong, prove
from tests.acceptance.test_wrong_on_purpose import in_background
from validation import names
from validation.observe import capacity, pods
from validation.observe.admission import PROBE_NAMESPACE
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("V1"), pytest.mark.usefixtures("unchanged")]
UNHEALTHY = "runai-kit.io/unhealthy-gpus"


def damage_the_gpus(wrong: Broken, first: str, second: str) -> None:
    """On the first node a GPU less and no memory label, on the second a product that is a vGPU's."""
    node = f"{names.NODES}/{first}"
    wrong.restless(lambda: capacity.allocatable(wrong.api.get(node)) == wrong.outputs.expectedGpus[first])
    wrong.patched(node, {"metadata": {"annotations": {UNHEALTHY: "0"}}})
    until(lambda: capacity.allocatable(wrong.api.get(node)) < wrong.outputs.expectedGpus[first], "a GPU less")
    silence_the_labeller(wrong)
    relabel(wrong, first, names.GPU_MEMORY_LABEL, None)
    relabel(wrong, second, names.GPU_PRODUCT_LABEL, "NVIDIA-A100-40C")


def silence_the_labeller(wrong: Broken) -> None:
    """It would put a node's labels back at once: a policy of somebody's makes the API server refuse it."""
    account = "system:serviceaccount:gpu-operator:fake-gpu"
    policy, binding = things.refusal("somebodys-policy", account, "nodes")
    kinds = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    wrong.made(f"{kinds}ies", policy)
    wrong.made(f"{kinds}ybindings", binding)


def relabel(wrong: Broken, node: str, key: str, value: str | None) -> None:
    """A node's label, as soon as nobody puts it back any more."""
    path = f"{names.NODES}/{node}"

    def stays() -> bool:
        wrong.api.patch(path, {"metadata": {"labels": {key: value}}})
        threading.Event().wait(0.5)
        return pods.label(wrong.api.get(path), key) == value

    wrong.restless(lambda: pods.label(wrong.api.get(path), key) == before)
    before = pods.label(wrong.patched(path, {"metadata": {"labels": {key: value}}}), key)
    until(stays, f"{key} of {node} stays {value}")


def crowd(wrong: Broken, node: str, count: int) -> int:
    """Pods on a node that wait for a ConfigMap for ever, so that they cost nothing; free slots before."""
    volume = {"name": "files", "configMap": {"name": "does-not-exist"}}
    for number in range(count):
        body = things.pod(f"waiting-{number}", wrong.outputs.images["cuda"], nodeName=node, volumes=[volume])
        wrong.made(names.in_namespace(names.PODS, "default"), body)
    everything = [p for p in wrong.api.items(names.PODS) if pods.node(p) == node and pods.active(p)]
    offered = capacity.allocatable(wrong.api.get(f"{names.NODES}/{node}"), "pods")
    return offered - len(everything) + count


def dead_node(wrong: Broken) -> None:
    """A node that registered, ran out of disk space and says nothing any more."""
    meta = {"name": "gone-node"}
    path = wrong.made(names.NODES, {"apiVersion": "v1", "kind": "Node", "metadata": meta})
    state = {"Ready": "False", "DiskPressure": "True"}
    conditions = [{"type": kind, "status": status, "reason": "Gone"} for kind, status in state.items()]
    wrong.api.patch(f"{path}/status", {"status": {"conditions": conditions}})


@contextmanager
def meddled(wrong: Broken) -> Iterator[None]:
    """Preflight's namespace gets somebody's label and a thing with a finalizer as soon as it is there."""
    namespace = f"{names.NAMESPACES}/{PROBE_NAMESPACE}"
    label = {"metadata": {"labels": {names.PSA_ENFORCE_LABEL: "privileged"}}}
    held = things.config_map("somebodys", {})

    def meddle(stop: threading.Event) -> None:
        while not stop.wait(0.05):
            if wrong.api.find(namespace):
                wrong.api.patch(namespace, label)
                wrong.made(names.in_namespace(names.CONFIG_MAPS, PROBE_NAMESPACE), held)
                return

    wrong.callback(until, lambda: wrong.api.find(namespace) is None, f"{PROBE_NAMESPACE} is gone")
    with in_background(meddle):
        yield


@pytest.mark.negative(
    "preflight.leftovers",
    "preflight.gpu_count",
    "preflight.gpu_labels",
    "preflight.gpu_mode",
    "preflight.storage_class",
    "preflight.volume",
    "preflight.psa_default",
    "preflight.dns",
    "preflight.max_pods",
    "preflight.node_pressure",
    "preflight.ingress_class",
    "preflight.pull_secrets",
    "preflight.cleanup",
)
def test_a_cluster_that_is_no_ground_for_workloads(outputs: StackOutputs, tmp_path: Path) -> None:
    first, second = [node for node, gpus in sorted(outputs.expectedGpus.items()) if gpus][:2]
    project = outputs.projects[-1].namespace
    left = {names.PART_OF_LABEL: names.PART_OF, names.TEST_LABEL: "gang"}
    ingress = {"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": {"name": "theirs"}}
    pulling = things.pod(
        "pulling", outputs.images["cuda"], imagePullSecrets=[{"name": "nowhere"}], schedulerName="nobody"
    )
    with Broken(outputs) as wrong:
        wrong.made(names.in_namespace(names.CONFIG_MAPS, "default"), things.config_map("runai-kit-old", left))
        wrong.made(names.INGRESS_CLASSES, {**ingress, "spec": {"controller": "example.org/theirs"}})
        wrong.made(names.in_namespace(names.PODS, project), pulling)
        default = {"annotations": {names.DEFAULT_STORAGE_CLASS_ANNOTATION: "false"}}
        wrong.patched(f"{names.STORAGE_CLASSES}/standard", {"metadata": default})
        wrong.scaled("kube-system", "coredns")
        dead_node(wrong)
        damage_the_gpus(wrong, first, second)
        free = crowd(wrong, second, count=8)
        with meddled(wrong):
            variables = {**QUICK, "preflight_cleanup_timeout": HELD, "preflight_min_free_pods": free - 4}
            proof = prove(outputs, tmp_path, "preflight", variables=variables)
    memory = f"missing: expected {{}}, found {{'{first}': ['{names.GPU_MEMORY_LABEL}']}}"
    shown = (
        Wrong("preflight.leftovers", ("configmaps default/runai-kit-old", "example.org/held"), HELD + 2),
        Wrong("preflight.gpu_count", (f"allocatable.{first}: expected 4, found 3",)),
        Wrong("preflight.gpu_labels", (memory,)),
        Wrong("preflight.gpu_mode", ("expected passthrough, found ['passthrough', 'vgpu']",)),
        Wrong("preflight.storage_class", ("defaults: expected 1, found 0",)),
        Wrong(
            "preflight.volume",
            ("claim: expected Bound, found Pending", "no storage class is set"),
            PROBES + 2,
        ),
        Wrong("preflight.psa_default", (f"{PROBE_NAMESPACE} {names.PSA_ENFORCE_LABEL}=privileged",)),
        Wrong("preflight.dns", ("Service kube-system/kube-dns has 0 ready endpoints",), PROBES + 2),
        Wrong("preflight.max_pods", (f"{second}: expected atLeast {free - 4}, found ",)),
        Wrong("preflight.node_pressure", ("gone-node", "not Ready", "DiskPressure")),
        Wrong("preflight.ingress_class", ("declared n/a", "could run", "theirs")),
        Wrong("preflight.pull_secrets", ("declared n/a", "could run", f"{project}/nowhere")),
        Wrong("preflight.cleanup", (f"namespaces {PROBE_NAMESPACE}", "example.org/held"), HELD + 2),
    )
    proof.shows(*shown)
    assert proof.failed() == {one.check for one in shown}
    assert proof.seconds <= 240
