"""V1 in both directions: each check of preflight against a cluster that has exactly its fault.

Faults that do not hide each other are provoked in one run, and exactly their checks must fail, each within
its bound and naming its own cause. Every change is taken back whatever happens; the cluster is compared.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.acceptance import things
from tests.acceptance.broken import Broken, Json, until
from tests.acceptance.proving import Proof, Wrong, prove
from tests.acceptance.test_wrong_on_purpose import in_background
from validation import names
from validation.observe import capacity, evictions, pods, queues
from validation.observe.admission import PROBE_NAMESPACE
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("V1"), pytest.mark.usefixtures("unchanged")]
KAI = "kai-scheduler"
CONFIG = f"{names.CONFIGS}/kai-config"
UNHEALTHY = "runai-kit.io/unhealthy-gpus"
# Days that no certificate of an API server has left.
DEMANDED = 4000
# Seconds that the probes and the clean-up get in these runs, which wait for what never comes.
PROBES, CLEANUP, HELD = 12, 20, 4
QUICK = {"preflight_timeout": PROBES, "preflight_cleanup_timeout": CLEANUP}


def ca_bundle(days: int) -> str:
    """A CA that signed nothing, valid for so many days more, as a webhook configuration holds it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody else")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=9))
    made = builder.not_valid_after(now + timedelta(days=days, hours=1)).sign(key, hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


def damage_the_scheduler(wrong: Broken) -> None:
    """KAI without operator, scheduler and admission, and with a Config that the stack did not write."""
    wrong.restless(lambda: available(wrong))
    # The operator first, or it brings the others back.
    for deployment in ("kai-operator", "kai-scheduler-default", "admission"):
        wrong.scaled(KAI, deployment)
    admission = {"gpuSharing": not wrong.outputs.gpuSharing, "gpuPodRuntimeClassName": "nowhere"}
    wrong.patched(CONFIG, {"spec": {"admission": admission}})
    wrong.replaced(f"{names.PRIORITY_CLASSES}/build", value=60)
    hooks = f"{names.VALIDATING_WEBHOOKS}/kai-podgroup-validation-v2alpha2"
    (hook,) = wrong.api.get(hooks)["webhooks"]
    hook["clientConfig"]["caBundle"] = ca_bundle(5)
    wrong.patched(hooks, {"webhooks": [hook]})


def old_webhook(wrong: Broken) -> None:
    """A webhook configuration of Knative that nobody renews; it sees only a kind that does not exist."""
    rule = {"apiGroups": ["example.org"], "apiVersions": ["v1"], "resources": ["nothings"]}
    service = {"namespace": wrong.outputs.inference.namespace, "name": "webhook"}
    hook = {
        "name": "left.example.org",
        "clientConfig": {"service": service, "caBundle": ca_bundle(-1)},
        "rules": [{**rule, "operations": ["CREATE"]}],
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "left-by-an-earlier-knative"},
    }
    wrong.made(names.VALIDATING_WEBHOOKS, {**body, "webhooks": [hook]})


def available(wrong: Broken) -> bool:
    conditions = (wrong.api.get(CONFIG).get("status") or {}).get("conditions") or []
    return {c["type"] for c in conditions if c["status"] == "True"} >= {"Deployed", "Available"}


@pytest.mark.negative(
    "preflight.scheduler",
    "preflight.gpu_sharing",
    "preflight.runtime_class",
    "preflight.priority_classes",
    "preflight.webhooks",
    "preflight.certificates",
    "preflight.certificates_api",
    "preflight.certificates_knative",
    "preflight.versions",
    "preflight.exclusive_profile",
    "preflight.namespaces",
    "preflight.queues",
    "preflight.tls",
)
def test_an_installation_that_somebody_changed(outputs: StackOutputs, tmp_path: Path) -> None:
    project = outputs.projects[0]
    old = things.pod("old-binder", "ghcr.io/nvidia/kai-scheduler/binder:v0.11.9")
    with Broken(outputs) as wrong:
        wrong.made(names.in_namespace(names.PODS, KAI), old)
        wrong.made(names.CRDS, things.crd("runaiconfigs", "run.ai", "RunaiConfig"))
        limit = {"gpu": {"limit": 5}}
        wrong.patched(f"{names.QUEUES}/{project.queue}", {"spec": {"resources": limit}})
        label = {"labels": {names.PSA_ENFORCE_LABEL: "restricted"}}
        wrong.patched(f"{names.NAMESPACES}/{outputs.reservationNamespace}", {"metadata": label})
        wrong.scaled(outputs.ingress.namespace, outputs.ingress.service)
        old_webhook(wrong)
        damage_the_scheduler(wrong)
        variables = {**QUICK, "preflight_min_certificate_days": DEMANDED}
        proof = prove(outputs, tmp_path, "preflight", variables=variables)
    shown = (
        Wrong("preflight.scheduler", ("kai-scheduler-default: scaled to 0", "kai-operator: scaled to 0")),
        Wrong("preflight.gpu_sharing", ("gpuSharing: expected True, found False",)),
        Wrong("preflight.runtime_class", ("RuntimeClass nowhere", "kai-config", "does not exist")),
        Wrong("preflight.priority_classes", ("build: expected atLeast 100, found 60",)),
        Wrong("preflight.webhooks", ('"admission.kai-scheduler.svc"', "refused", "podGroup: ", "x509")),
        Wrong("preflight.certificates", ("found 5", "kai-podgroup-validation-v2alpha2")),
        Wrong("preflight.certificates_api", (f"days: expected atLeast {DEMANDED}, found ",)),
        Wrong("preflight.certificates_knative", ("found -1", "left-by-an-earlier-knative")),
        Wrong("preflight.versions", ("kai-scheduler: expected 0.12.0", "0.11.9", "haproxy")),
        Wrong("preflight.exclusive_profile", ("CustomResourceDefinition runaiconfigs.run.ai",)),
        Wrong("preflight.namespaces", (outputs.reservationNamespace, "expected baseline, found restricted")),
        Wrong("preflight.queues", (f"{project.queue}.limit: expected {project.gpu.limit}, found 5",)),
        Wrong("preflight.tls", ("inference: ", "workspaces: ", "expected"), seconds=15),
    )
    proof.shows(*shown)
    assert proof.failed() == {one.check for one in shown}
    assert proof.seconds <= 60


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
    assert proof.seconds <= 90


def others_work(wrong: Broken) -> list[Json]:
    """A pod above its queue's quota, in queues of its own, and pods that hold all the other GPUs."""
    project, image = wrong.outputs.projects[0], wrong.outputs.images["cuda"]
    wrong.made(names.QUEUES, things.queue("their-department", "", 0))
    wrong.made(names.QUEUES, things.queue("their-team", "their-department", 0))
    labels = {wrong.outputs.queueLabelKey: "their-team"}
    theirs = things.pod("their-work", image, 1, labels, schedulerName=wrong.outputs.schedulerName)
    paths = [wrong.made(names.in_namespace(names.PODS, project.namespace), theirs)]
    until(lambda: pods.running(wrong.api.get(paths[0])), "the pod above its quota runs")
    taken = pods.node(wrong.api.get(paths[0]))
    for node, gpus in wrong.outputs.expectedGpus.items():
        if count := gpus - (node == taken):
            body = things.pod(f"their-gpus-{node}", image, count, nodeName=node)
            paths.append(wrong.made(names.in_namespace(names.PODS, "default"), body))
    until(lambda: all(pods.running(wrong.api.get(path)) for path in paths), "all GPUs are held")
    queue = f"{names.QUEUES}/their-team"
    until(lambda: queues.allocated(wrong.api.get(queue)) == 1, "the queue counts the pod")
    return [wrong.api.get(path) for path in paths]


def second_default(wrong: Broken) -> None:
    """One more StorageClass, marked as default like the first."""
    like = wrong.api.get(f"{names.STORAGE_CLASSES}/standard")
    meta = {"name": "theirs", "annotations": {names.DEFAULT_STORAGE_CLASS_ANNOTATION: "true"}}
    keep = ("apiVersion", "kind", "provisioner", "volumeBindingMode", "reclaimPolicy")
    wrong.made(names.STORAGE_CLASSES, {**{key: like[key] for key in keep if key in like}, "metadata": meta})


@pytest.mark.req("V11")
@pytest.mark.negative(
    "preflight.foreign_queues", "preflight.blast_radius", "preflight.capacity", "preflight.storage_class"
)
def test_the_tests_refuse_to_run_beside_others_work(outputs: StackOutputs, tmp_path: Path) -> None:
    with Broken(outputs) as wrong:
        second_default(wrong)
        theirs = others_work(wrong)
        before = evictions.seen(wrong.api)
        proof = prove(outputs, tmp_path, tags="V2,V3,V4")
        evicted = evictions.since(wrong.api, before)
        after = {pods.name(p): p["metadata"]["uid"] for p in wrong.api.items(names.PODS) if pods.running(p)}
    namespace = outputs.projects[0].namespace
    shown = (
        Wrong("preflight.foreign_queues", ("their-department", "their-team")),
        Wrong("preflight.blast_radius", (f"{namespace}/their-work", "queue their-team", "above its quota")),
        Wrong(
            "preflight.capacity",
            ("freeGpus: expected atLeast 1, found 0", "default/their-gpus-", "their-work"),
        ),
        Wrong("preflight.storage_class", ("defaults: expected 1, found 2",)),
    )
    proof.shows(*shown)
    assert proof.failed() == {one.check for one in shown}
    refused_because_of(proof, "preflight.foreign_queues", "preflight.blast_radius", "preflight.capacity")
    assert evicted == []
    assert {pods.name(p): p["metadata"]["uid"] for p in theirs}.items() <= after.items()
    assert proof.seconds <= 60


def refused_because_of(proof: Proof, *checks: str) -> None:
    """None of the chosen tests began, and each of their checks says why."""
    for name, entry in proof.checks.items():
        if name.partition(".")[0] in ("fractional_gpu", "over_quota", "reclaim"):
            assert entry["verdict"] == "skip"
            assert entry["reason"].startswith("refused because of")
            assert all(check in entry["reason"] for check in checks), entry["reason"]
