"""V1: each observation against a healthy bed, and against one with exactly its fault."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.unit.validation.double import OUTPUTS, Double, group, node, pod, queue, thing
from validation import cleanup, https, names
from validation.cluster import ClusterError
from validation.compare import differences
from validation.expect import preflight as expect
from validation.https import Peer
from validation.ingress import Ingress
from validation.observe import monitoring, preflight, rights
from validation.settings import load

pytestmark = pytest.mark.req("V1")
Json = dict[str, Any]


def certificate(days: int) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "admission")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=days, hours=1))
        .sign(key, hashes.SHA256())
    )
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


def der(bundle: str) -> bytes:
    """What a server shows of a certificate that webhooks have."""
    loaded = x509.load_pem_x509_certificate(base64.b64decode(bundle))
    return loaded.public_bytes(serialization.Encoding.DER)


def admit(path: str, body: Json) -> Json:
    """An API server with default level restricted and KAI's three webhooks."""
    if path == names.ACCESS_REVIEWS:
        return {"status": {"allowed": True}}
    if path == names.QUEUES:
        raise ClusterError("admission webhook denied the request: resources must be specified", 403)
    if path.endswith("podgroups"):
        raise ClusterError("admission webhook denied the request: duplicate subgroup name twin", 403)
    if "runai-kit-preflight/pods" in path:
        raise ClusterError('pods is forbidden: violates PodSecurity "restricted:latest"', 403)
    annotations = {**body["metadata"].get("annotations", {}), names.SHARED_GPU_ANNOTATION: "x"}
    return {**body, "metadata": {**body["metadata"], "annotations": annotations}}


def bed() -> Double:
    c = Double()
    c.admit = admit
    c.single["/version"] = {"gitVersion": "v1.34.9"}
    c.add(
        names.NODES, node("runai-kit-worker"), node("runai-kit-worker2"), node("runai-kit-control-plane", 0)
    )
    c.add(names.PODS, pod("scheduler-1", "kai-scheduler"), pod("agent", "gpu-operator"))
    c.objects[names.PODS][1]["spec"]["containers"][0]["image"] = "kind.local/fake-gpu:0.1.0"
    for d in OUTPUTS["departments"]:
        c.add(names.QUEUES, queue(d["queue"], "", d["gpu"]["deserved"], d["gpu"]["limit"]))
    for p in OUTPUTS["projects"]:
        c.add(names.QUEUES, queue(p["queue"], p["department"], p["gpu"]["deserved"], p["gpu"]["limit"]))
    conditions = [{"type": t, "status": "True"} for t in ("Deployed", "Available")]
    c.add(
        names.CONFIGS,
        thing(
            "kai-config",
            spec={"namespace": "kai-scheduler", "admission": {"gpuSharing": True}},
            status={"conditions": conditions},
        ),
    )
    deployment = {"spec": {"replicas": 1}, "status": {"readyReplicas": 1}}
    c.add("/apis/apps/v1/deployments", thing("kai-operator", "kai-scheduler", **deployment))
    c.add(names.PRIORITY_CLASSES, thing("train", value=50), thing("build", value=100))
    c.add(names.RUNTIME_CLASSES, thing("nvidia", handler="nvidia"))
    default = {names.DEFAULT_STORAGE_CLASS_ANNOTATION: "true"}
    c.add(names.STORAGE_CLASSES, thing("standard", annotations=default), thing("other"))
    for n in OUTPUTS["namespaces"]:
        c.add(names.NAMESPACES, thing(n["name"], labels={names.PSA_ENFORCE_LABEL: n["psa"]}))
    hook = {"clientConfig": {"service": {"namespace": "kai-scheduler"}, "caBundle": certificate(3650)}}
    c.add(names.MUTATING_WEBHOOKS, thing("mutating-kai-admission", webhooks=[hook]))
    # Knative's live for a week.
    serving = {"clientConfig": {"service": {"namespace": "knative-serving"}, "caBundle": certificate(6)}}
    c.add(names.VALIDATING_WEBHOOKS, thing("validation.webhook.serving.knative.dev", webhooks=[serving]))
    c.shown = der(certificate(300))
    balanced = {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}
    front = thing("haproxy", "haproxy-controller", spec={"ports": [{"port": 443}]}, status=balanced)
    c.add(names.SERVICES, front)
    c.single["/api/v1/namespaces/default/services/kubernetes"] = {"spec": {"clusterIP": "10.96.0.1"}}
    return c


def judged(cluster: Double) -> tuple[set[str], Json]:
    at = cluster.at()
    found, _ = preflight.observe(at)
    found["preflight.access"] = rights.access(at)
    wanted = expect.expected(load(OUTPUTS), preflight.live_facts(at), "restricted", 10, 30, 1, "word")
    wanted["preflight.access"] = {"denied": []}
    usable = preflight.applicable(found)
    bad = {c for c in found if usable.get(c, True) and differences(wanted[c], found[c])}
    return {c.removeprefix("preflight.") for c in bad}, found


def test_a_healthy_cluster_passes() -> None:
    assert judged(bed())[0] == set()


def first(c: Double, path: str) -> Json:
    return c.objects[path][0]


def no_memory_label(c: Double) -> None:
    del first(c, names.NODES)["metadata"]["labels"][names.GPU_MEMORY_LABEL]


def unhealthy_gpu(c: Double) -> None:
    first(c, names.NODES)["status"]["allocatable"]["nvidia.com/gpu"] = "3"


def gpus_on_a_surprising_node(c: Double) -> None:
    c.objects[names.NODES][2]["status"]["allocatable"]["nvidia.com/gpu"] = "1"


def vgpu(c: Double) -> None:
    for n in c.objects[names.NODES][:2]:
        n["metadata"]["labels"][names.GPU_PRODUCT_LABEL] = "NVIDIA-A100-40C"


def all_gpus_held(c: Double) -> None:
    c.add(names.PODS, *(pod(f"own-{w}", "x", w, 4) for w in ("runai-kit-worker", "runai-kit-worker2")))


def sharing_off(c: Double) -> None:
    del first(c, names.CONFIGS)["spec"]["admission"]["gpuSharing"]


def unavailable(c: Double) -> None:
    first(c, names.CONFIGS)["status"]["conditions"][1]["status"] = "False"


def no_config(c: Double) -> None:
    c.objects[names.CONFIGS] = []


def operator_gone(c: Double) -> None:
    first(c, "/apis/apps/v1/deployments")["spec"]["replicas"] = 0


def old_scheduler(c: Double) -> None:
    first(c, names.PODS)["spec"]["containers"][0]["image"] = "ghcr.io/nvidia/kai-scheduler/scheduler:v0.11.0"


def no_storage_class(c: Double) -> None:
    first(c, names.STORAGE_CLASSES)["metadata"]["annotations"] = {}


def two_storage_classes(c: Double) -> None:
    c.objects[names.STORAGE_CLASSES][1]["metadata"]["annotations"] = {
        names.DEFAULT_STORAGE_CLASS_ANNOTATION: "true"
    }


def label_dropped(c: Double) -> None:
    c.objects[names.NAMESPACES][1]["metadata"]["labels"] = {}


def namespace_missing(c: Double) -> None:
    c.objects[names.NAMESPACES].pop()


def pressure(c: Double) -> None:
    c.objects[names.NODES][0]["status"]["conditions"].append({"type": "DiskPressure", "status": "True"})


def full_node(c: Double) -> None:
    first(c, names.NODES)["status"]["allocatable"]["pods"] = "5"


def no_runtime_class(c: Double) -> None:
    c.objects[names.RUNTIME_CLASSES] = []


def build_is_preemptible(c: Double) -> None:
    c.objects[names.PRIORITY_CLASSES][1]["value"] = 99


def wrong_limit(c: Double) -> None:
    c.objects[names.QUEUES][0]["spec"]["resources"]["gpu"]["limit"] = 5


def cpu_limit_unset(c: Double) -> None:
    del c.objects[names.QUEUES][3]["spec"]["resources"]["cpu"]["limit"]


def queue_missing(c: Double) -> None:
    c.objects[names.QUEUES] = [q for q in c.objects[names.QUEUES] if q["metadata"]["name"] != "team-b"]


def foreign_queue(c: Double) -> None:
    c.add(names.QUEUES, queue("their-team"))


def foreign_over_quota(c: Double) -> None:
    engineering = next(q for q in c.objects[names.QUEUES] if q["metadata"]["name"] == "engineering")
    engineering["status"]["allocated"]["nvidia.com/gpu"] = "3"
    c.add(names.PODS, pod("theirs", on="runai-kit-worker", gpus=1))
    c.add(names.POD_GROUPS, group("theirs", "team-a"))


def runai_beside(c: Double) -> None:
    c.add(names.PODS, pod("runai-operator", "runai"))


def runai_crd(c: Double) -> None:
    c.add(names.CRDS, thing("runaiconfigs.run.ai"))


def short_certificate(c: Double) -> None:
    first(c, names.MUTATING_WEBHOOKS)["webhooks"][0]["clientConfig"]["caBundle"] = certificate(7)


def knatives_certificate_ends(c: Double) -> None:
    first(c, names.VALIDATING_WEBHOOKS)["webhooks"][0]["clientConfig"]["caBundle"] = certificate(0)


def the_servers_certificate_ends(c: Double) -> None:
    c.shown = der(certificate(29))


def no_webhook(c: Double) -> None:
    c.objects[names.MUTATING_WEBHOOKS] = []


def silent_admission(c: Double) -> None:
    c.admit = lambda path, body: body if path.endswith("team-a/pods") else admit(path, body)


def dead_admission(c: Double) -> None:
    def dead(path: str, body: Json) -> Json:
        if path.endswith("team-a/pods"):
            raise ClusterError('failed calling webhook "admission": connection refused', 500)
        return admit(path, body)

    c.admit = dead


def sharing_refused(c: Double) -> None:
    sharing_off(c)

    def refuse(path: str, body: Json) -> Json:
        if path.endswith("team-a/pods"):
            raise ClusterError("webhook denied the request: while GPU sharing is disabled", 403)
        return admit(path, body)

    c.admit = refuse


def no_queue_webhook(c: Double) -> None:
    c.admit = lambda path, body: body if path == names.QUEUES else admit(path, body)


def no_psa(c: Double) -> None:
    c.admit = lambda path, body: body if "runai-kit-preflight" in path else admit(path, body)


def few_rights(c: Double) -> None:
    def deny(path: str, body: Json) -> Json:
        if path == names.ACCESS_REVIEWS:
            return {"status": {"allowed": body["spec"]["resourceAttributes"]["resource"] != "queues"}}
        return admit(path, body)

    c.admit = deny


def ingress_with_no_default(c: Double) -> None:
    c.add(names.INGRESS_CLASSES, thing("haproxy"))


def pull_secret_missing(c: Double) -> None:
    first(c, names.PODS)["spec"]["imagePullSecrets"] = [{"name": "ngc"}]


@pytest.mark.parametrize(
    ("spoil", "checks"),
    [
        (no_memory_label, {"gpu_labels"}),
        (unhealthy_gpu, {"gpu_count"}),
        (gpus_on_a_surprising_node, {"gpu_count", "gpu_labels", "gpu_mode"}),
        (vgpu, {"gpu_mode"}),
        (all_gpus_held, {"capacity"}),
        (sharing_off, {"gpu_sharing"}),
        (unavailable, {"scheduler"}),
        (no_config, {"scheduler", "gpu_sharing"}),
        (operator_gone, {"scheduler"}),
        (old_scheduler, {"versions"}),
        (no_storage_class, {"storage_class"}),
        (two_storage_classes, {"storage_class"}),
        (label_dropped, {"namespaces"}),
        (namespace_missing, {"namespaces"}),
        (pressure, {"node_pressure"}),
        (full_node, {"max_pods"}),
        (no_runtime_class, {"runtime_class"}),
        (build_is_preemptible, {"priority_classes"}),
        (wrong_limit, {"queues"}),
        (cpu_limit_unset, {"queues"}),
        (queue_missing, {"queues"}),
        (foreign_queue, {"foreign_queues"}),
        (foreign_over_quota, {"blast_radius"}),
        (runai_beside, {"exclusive_profile"}),
        (runai_crd, {"exclusive_profile"}),
        (short_certificate, {"certificates"}),
        (knatives_certificate_ends, {"certificates_knative"}),
        (the_servers_certificate_ends, {"certificates_api"}),
        (no_webhook, {"certificates"}),
        (silent_admission, {"webhooks"}),
        (dead_admission, {"webhooks"}),
        (sharing_refused, {"gpu_sharing"}),
        (no_queue_webhook, {"webhooks"}),
        (no_psa, {"psa_default"}),
        (few_rights, {"access"}),
        (pull_secret_missing, {"pull_secrets"}),
    ],
)
def test_each_fault_is_found_by_its_check(spoil: Callable[[Double], None], checks: set[str]) -> None:
    cluster = bed()
    spoil(cluster)
    assert judged(cluster)[0] == checks


def test_an_ingress_class_without_a_default_is_found() -> None:
    cluster = bed()
    ingress_with_no_default(cluster)
    assert judged(cluster)[0] == {"ingress_class"}


def shows(**changes: Any) -> Callable[[Ingress, str], Peer]:
    """An ingress that proves the name it is asked for, but for what is changed."""

    def peer(ingress: Ingress, host: str) -> Peer:
        assert (ingress.address, ingress.port) == ("192.0.2.7", 443)
        until = datetime.now(UTC) + timedelta(days=90, hours=1)
        shown = {
            "protocol": "TLSv1.3",
            "names": [f"*.{host.partition('.')[2]}"],
            "issuer": "a CA",
            "not_after": until.strftime("%b %d %H:%M:%S %Y GMT"),
        }
        return Peer(**{**shown, **changes})

    return peer


@pytest.fixture(autouse=True)
def ingress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this suite goes out: the ingress of the bed answers here."""
    monkeypatch.setattr(https, "peer", shows())


def refuses(_: Ingress, host: str) -> Peer:
    raise https.CertificateError(f"https://{host}: the certificate was not accepted: unknown authority")


@pytest.mark.parametrize(
    ("peer", "words"),
    [
        (shows(names=["*.elsewhere.test"]), "inference.names: expected contains *.inference.apps.local.test"),
        (shows(not_after="Nov 29 00:00:00 2020 GMT"), "inference.days: expected atLeast 30"),
        (refuses, "inference.names: expected"),
    ],
)
def test_a_certificate_that_clients_would_not_take_is_found(
    peer: Callable[[Ingress, str], Peer], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(https, "peer", peer)
    bad, found = judged(bed())
    assert bad == {"tls"}
    wanted = expect.expected(load(OUTPUTS), preflight.live_facts(bed().at()), "restricted", 10, 30, 1, "word")
    lines = differences(wanted["preflight.tls"], found["preflight.tls"])
    assert any(words in line for line in lines), lines
    assert any(line.startswith("workspaces.") for line in lines)


def test_an_ingress_without_an_address_is_found() -> None:
    cluster = bed()
    first(cluster, names.SERVICES)["status"] = {}
    bad, found = judged(cluster)
    assert bad == {"tls"}
    assert (
        "neither a load balancer's address nor a node port" in found["preflight.tls"]["workspaces"]["error"]
    )


def test_where_nothing_is_served_the_check_cannot_pass() -> None:
    at = bed().at(ingress={"enabled": False})
    found, _ = preflight.observe(at)
    assert preflight.applicable(found)["preflight.tls"] is False
    wanted = expect.expected(at.outputs, preflight.live_facts(at), "restricted", 10, 30, 1, "word")
    assert differences(wanted["preflight.tls"], found["preflight.tls"])


def test_suite_pods_and_in_quota_pods_are_not_at_risk() -> None:
    cluster = bed()
    foreign_over_quota(cluster)
    theirs = cluster.objects[names.PODS][-1]
    theirs["metadata"]["labels"][names.PART_OF_LABEL] = names.PART_OF
    assert judged(cluster)[1]["preflight.blast_radius"]["atRisk"] == []


def test_an_api_that_fails_fails_the_check_and_not_the_others() -> None:
    cluster = bed()

    def broken(_path: str, _body: Json) -> Json:
        raise ClusterError("API server is slow", 504)

    cluster.admit = broken
    found, _ = preflight.observe(cluster.at())
    assert "slow" in found["preflight.psa_default"]["error"]
    assert found["preflight.storage_class"]["defaults"] == 1


def test_bounds_of_the_settings_bound_what_is_free() -> None:
    bounds = {"sleepSeconds": 60, "timeoutSeconds": 60, "maxGpus": 3, "nodePool": ""}
    cluster = bed()
    at = cluster.at(validation=bounds)
    assert (at.capacity.free, at.capacity.unbounded) == (3, 8)
    first(cluster, names.NODES)["metadata"]["labels"]["kai.scheduler/node-pool"] = "lab"
    assert cluster.at(validation={**bounds, "maxGpus": 0, "nodePool": "lab"}).capacity.free == 4


def test_whatever_a_clean_up_may_delete_the_user_is_asked_for() -> None:
    everything = {part: OUTPUTS.get(part, {}) | {"enabled": True} for part in ("inference", "workspaces")}
    asked = rights.rights(load(OUTPUTS | everything))
    for path in (*cleanup.MAKERS, *cleanup.HOLDERS, *cleanup.BELONGINGS, *cleanup.GROUND):
        group = "" if path.startswith("/api/") else path.split("/")[2]
        assert ("delete", group, path.rpartition("/")[2]) in asked, path


def test_a_tainted_node_has_nothing_free_and_says_why() -> None:
    cluster = Double().add(names.NODES, node("w1", 4), node("w2", 4), node("w3", 4))
    cluster.objects[names.NODES][1]["spec"] = {
        "taints": [
            {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
            {"key": "soft", "effect": "PreferNoSchedule"},
        ]
    }
    cluster.objects[names.NODES][2]["spec"] = {"unschedulable": True}
    found = preflight.CHECKS["preflight.capacity"](cluster.at())
    assert found["freeGpus"] == 4
    assert found["why"] == ["node w2 is tainted nvidia.com/gpu=present:NoSchedule", "node w3 is cordoned"]


def test_devices_that_are_offered_several_times_are_counted_so_and_are_devices_still() -> None:
    labels = {names.GPU_COUNT_LABEL: "2", names.GPU_REPLICAS_LABEL: "4"}
    shared = node("w1", 8, labels=labels)
    shared["status"]["capacity"] = shared["status"]["allocatable"]
    at = Double().add(names.NODES, shared).at()
    assert preflight.live_facts(at)["labelledGpus"] == {"w1": 8}
    assert monitoring.gpus_of_nodes(at) == {"w1": 2}
