"""V1 as the API shows it: one small function per check; `observe` runs them all and times each."""

from __future__ import annotations

import base64
import re
import socket
import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from cryptography import x509

from validation import names
from validation.cluster import ClusterError
from validation.observe import capacity, pods, queues
from validation.observe.admission import psa_default, webhooks
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]

# (verb, group, resource) that the tests use; namespaced ones are asked for all namespaces.
RIGHTS = (
    ("create", "", "namespaces"),
    ("delete", "", "namespaces"),
    ("list", "", "nodes"),
    ("list", "", "pods"),
    ("create", "", "pods"),
    ("create", "", "pods/exec"),
    ("get", "", "pods/log"),
    ("list", "", "events"),
    ("list", "", "configmaps"),
    ("create", "batch", "jobs"),
    ("delete", "batch", "jobs"),
    ("create", "scheduling.run.ai", "queues"),
    ("delete", "scheduling.run.ai", "queues"),
    ("list", "scheduling.run.ai", "podgroups"),
    ("get", "kai.scheduler", "configs"),
)
# Namespaces of installations that bring a KAI of their own.
OTHER_PROFILES = ("runai", "runai-backend", "kai-resource-management")
GPU_LABELS = (names.GPU_MEMORY_LABEL, names.GPU_PRODUCT_LABEL, names.GPU_COUNT_LABEL)
# vGPU types end in framebuffer size and series (A100-40C, L40S-48Q), passthrough names in the model.
VGPU_PRODUCT = re.compile(r"-\d+(-\d+)?[ABCQ]$")


def access(at: Snapshot) -> Json:
    """Rights that the user of the context lacks."""
    denied = []
    for verb, group, resource in RIGHTS:
        kind, _, sub = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": kind, "subresource": sub}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        if not at.cluster.create(names.ACCESS_REVIEWS, review)["status"]["allowed"]:
            denied.append(f"{verb} {resource}" + (f".{group}" if group else ""))
    return {"denied": denied, "asked": len(RIGHTS)}


def versions(at: Snapshot) -> Json:
    """Kubernetes' version; per component the tag of its namespace's images that is the promised one."""
    server = at.cluster.get("/version")["gitVersion"].removeprefix("v")
    found: Json = {"kubernetes": server}
    for component in at.outputs.components:
        if component.name.lower() == "kubernetes":
            found[component.name] = server
        elif component.namespace:
            tags = _tags(at, component.namespace)
            wanted = component.version.removeprefix("v")
            found[component.name] = wanted if wanted in tags else sorted(tags)
    return found


def _tags(at: Snapshot, namespace: str) -> set[str]:
    images = (
        container["image"]
        for pod in at.pods
        if pod["metadata"]["namespace"] == namespace
        for container in pod["spec"]["containers"]
    )
    return {
        image.rpartition("/")[2].partition("@")[0].partition(":")[2].removeprefix("v") for image in images
    } - {""}


def exclusive_profile(at: Snapshot) -> Json:
    """Signs of an installation that brings its own scheduler."""
    own = {n.name for n in at.outputs.namespaces}
    inhabited = {p["metadata"]["namespace"] for p in at.pods}
    others = [f"pods in namespace {n}" for n in OTHER_PROFILES if n in inhabited and n not in own]
    if at.outputs.profile == "modular" and at.cluster.find(f"{names.CRDS}/runaiconfigs.run.ai"):
        others.append("CustomResourceDefinition runaiconfigs.run.ai")
    return {"others": others}


def scheduler(at: Snapshot) -> Json:
    """Config's conditions and the Deployments that are not as they should be."""
    if at.config is None:
        return {"conditions": "Config kai-config does not exist", "notReady": []}
    namespace = at.config.get("spec", {}).get("namespace") or "kai-scheduler"
    conditions = {c["type"]: c["status"] for c in at.config.get("status", {}).get("conditions") or []}
    not_ready = []
    for deployment in at.cluster.items(names.in_namespace("/apis/apps/v1/deployments", namespace)):
        wanted = deployment["spec"].get("replicas", 1)
        ready = deployment.get("status", {}).get("readyReplicas", 0)
        if wanted == 0 or ready < wanted:
            not_ready.append(f"{deployment['metadata']['name']}: {ready} of {wanted} ready")
    return {"conditions": conditions, "notReady": not_ready, "namespace": namespace}


def gpu_sharing(at: Snapshot) -> Json:
    """What the live admission was configured with; KAI's default is off."""
    admission = ((at.config or {}).get("spec", {}).get("admission")) or {}
    return {"gpuSharing": bool(admission.get("gpuSharing", False))}


def gpu_count(at: Snapshot) -> Json:
    """GPUs per node as the kubelet offers them, and the nodes' pools."""
    pool_of = {
        n["metadata"]["name"]: pods.label(n, at.outputs.nodePoolLabelKey) or "default"
        for n in capacity.gpu_nodes(at.nodes)
    }
    offered = {n["metadata"]["name"]: capacity.allocatable(n) for n in at.nodes if capacity.allocatable(n)}
    return {"allocatable": offered, "total": sum(offered.values()), "pools": pool_of}


def free_capacity(at: Snapshot) -> Json:
    """GPUs that nobody holds, within the bounds of the settings."""
    return {
        "freeGpus": at.capacity.free,
        "totalGpus": at.capacity.total,
        "heldByOthers": at.capacity.held,
        "maxGpus": at.outputs.validation.maxGpus,
        "nodePool": at.outputs.validation.nodePool,
    }


def gpu_labels(at: Snapshot) -> Json:
    """Labels of GPU feature discovery that are missing or zero."""
    missing: dict[str, list[str]] = {}
    seen: dict[str, Json] = {}
    for node in capacity.gpu_nodes(at.nodes):
        values = {key: pods.label(node, key) for key in GPU_LABELS}
        seen[node["metadata"]["name"]] = values
        lacking = [key for key, value in values.items() if not value or value == "0"]
        if lacking:
            missing[node["metadata"]["name"]] = lacking
    return {"missing": missing, "labels": seen}


def gpu_mode(at: Snapshot) -> Json:
    """Mode by product name or by the vGPU label of feature discovery."""
    nodes = capacity.gpu_nodes(at.nodes)
    products = sorted({pods.label(n, names.GPU_PRODUCT_LABEL) or "unknown" for n in nodes})
    modes = {_mode(n) for n in nodes}
    drivers = sorted({pods.label(n, "nvidia.com/cuda.driver-version.full") or "not reported" for n in nodes})
    return {
        "mode": modes.pop() if len(modes) == 1 else sorted(modes),
        "products": products,
        "drivers": drivers,
    }


def _mode(node: Json) -> str:
    product = (pods.label(node, names.GPU_PRODUCT_LABEL) or "").removesuffix("-SHARED")
    if not product:
        return "unknown"
    vgpu = pods.label(node, "nvidia.com/vgpu.present") == "true" or VGPU_PRODUCT.search(product)
    return "vgpu" if vgpu else "passthrough"


def runtime_class(at: Snapshot) -> Json:
    """RuntimeClass that KAI's admission gives to GPU pods."""
    admission = ((at.config or {}).get("spec", {}).get("admission")) or {}
    wanted = admission.get("gpuPodRuntimeClassName") or "nvidia"
    found = at.cluster.find(f"{names.RUNTIME_CLASSES}/{wanted}")
    return {"name": wanted, "handler": found["handler"] if found else None}


def priority_classes(at: Snapshot) -> Json:
    """Values of the classes that tell preemptible from not."""
    return {name: at.priorities.get(name) for name in ("train", "build")}


def storage_class(at: Snapshot) -> Json:
    """StorageClasses that are marked as default."""
    found = [
        c["metadata"]["name"]
        for c in at.cluster.items(names.STORAGE_CLASSES)
        if pods.annotation(c, names.DEFAULT_STORAGE_CLASS_ANNOTATION) == "true"
    ]
    return {"defaults": len(found), "names": found}


def ingress_class(at: Snapshot) -> Json:
    """IngressClasses, and how many are marked as default."""
    classes = at.cluster.items(names.INGRESS_CLASSES)
    found = [
        c["metadata"]["name"]
        for c in classes
        if pods.annotation(c, names.DEFAULT_INGRESS_CLASS_ANNOTATION) == "true"
    ]
    return {"defaults": len(found), "names": [c["metadata"]["name"] for c in classes]}


def namespaces(at: Snapshot) -> Json:
    """Pod Security level that each namespace of the kit enforces."""
    live = {n["metadata"]["name"]: n for n in at.cluster.items(names.NAMESPACES)}
    return {
        n.name: (pods.label(live[n.name], names.PSA_ENFORCE_LABEL) or "no label")
        if n.name in live
        else "missing"
        for n in at.outputs.namespaces
    }


def max_pods(at: Snapshot) -> Json:
    """Free pod slots per GPU node."""
    free = {}
    for node in capacity.gpu_nodes(at.nodes):
        name = node["metadata"]["name"]
        used = sum(1 for p in at.pods if pods.node(p) == name and pods.active(p))
        free[name] = capacity.allocatable(node, "pods") - used
    return free


def node_pressure(at: Snapshot) -> Json:
    """Nodes that are not ready or report pressure."""
    faults: dict[str, list[str]] = {}
    for node in at.nodes:
        state = {c["type"]: c["status"] for c in node["status"].get("conditions") or []}
        bad = [] if state.get("Ready") == "True" else ["not Ready"]
        bad += [
            kind for kind in ("DiskPressure", "MemoryPressure", "PIDPressure") if state.get(kind) == "True"
        ]
        if bad:
            faults[node["metadata"]["name"]] = bad
    return {"faults": faults, "nodes": len(at.nodes)}


def queue_tree(at: Snapshot) -> Json:
    """The kit's queues as they are in the cluster."""
    wanted = [d.queue for d in at.outputs.departments] + [p.queue for p in at.outputs.projects]
    return {name: queues.describe(at.queues[name]) if name in at.queues else "missing" for name in wanted}


def foreign_queues(at: Snapshot) -> Json:
    """Queues that neither the stack, KAI's chart nor this suite made."""
    own = {d.queue for d in at.outputs.departments} | {p.queue for p in at.outputs.projects}
    foreign = [
        name
        for name, queue in sorted(at.queues.items())
        if name not in own and name not in names.INSTALLER_QUEUES and not pods.of_suite(queue)
    ]
    return {"foreign": foreign, "queues": len(at.queues)}


def blast_radius(at: Snapshot) -> Json:
    """Pods that KAI could evict for a test: others' preemptible ones in a queue above its quota."""
    at_risk = []
    for pod in at.pods:
        mine = pods.of_suite(pod) or not pods.active(pod)
        if mine or pod["spec"].get("schedulerName") != at.outputs.schedulerName:
            continue
        if not queues.preemptible(queues.group_of(pod, at.groups), at.priorities):
            continue
        queue = queues.queue_of(pod, at.groups, at.outputs.queueLabelKey)
        above = [q["metadata"]["name"] for q in queues.ancestors(queue, at.queues) if queues.above_quota(q)]
        if above:
            at_risk.append(f"{pods.name(pod)} (queue {queue}; above its quota: {', '.join(above)})")
    return {"atRisk": sorted(at_risk)}


def certificates(at: Snapshot) -> Json:
    """Days left of the certificates of KAI's webhooks (self-signed: the API server trusts the same ones)."""
    days: Json = {}
    for path in (names.MUTATING_WEBHOOKS, names.VALIDATING_WEBHOOKS):
        for config in at.cluster.items(path):
            for hook in config.get("webhooks") or []:
                client = hook.get("clientConfig") or {}
                if _of_kai(at, client) and client.get("caBundle"):
                    days[config["metadata"]["name"]] = _days_left(client["caBundle"])
    return {"fewestDays": min(days.values(), default=None), "days": days}


def _of_kai(at: Snapshot, client: Json) -> bool:
    namespace = ((at.config or {}).get("spec", {}) or {}).get("namespace") or "kai-scheduler"
    return bool((client.get("service") or {}).get("namespace") == namespace)


def _days_left(bundle: str) -> int:
    loaded = x509.load_pem_x509_certificates(base64.b64decode(bundle))
    return min((c.not_valid_after_utc - datetime.now(UTC)).days for c in loaded)


def tls(at: Snapshot) -> Json:
    """Days left of the certificate served for the stack's domain; what does not verify is an error."""
    domain = at.outputs.domain or ""
    if not domain:
        return {"domain": "", "days": None}
    try:
        with (
            socket.create_connection((domain, 443), timeout=5) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=domain) as secure,
        ):
            peer: Any = secure.getpeercert() or {}
    except OSError as error:
        return {"error": f"https://{domain}: {error}", "domain": domain}
    until = ssl.cert_time_to_seconds(peer["notAfter"])
    return {"domain": domain, "days": int((until - time.time()) // 86400)}


def pull_secrets(at: Snapshot) -> Json:
    """Pull secrets that the kit's pods name and that do not exist."""
    own = {n.name for n in at.outputs.namespaces}
    wanted = {
        (p["metadata"]["namespace"], ref["name"])
        for p in at.pods
        if p["metadata"]["namespace"] in own
        for ref in p["spec"].get("imagePullSecrets") or []
    }
    missing = [
        f"{namespace}/{name}"
        for namespace, name in sorted(wanted)
        if at.cluster.find(f"/api/v1/namespaces/{namespace}/secrets/{name}") is None
    ]
    return {"missing": missing, "named": len(wanted)}


CHECKS: dict[str, Callable[[Snapshot], Json]] = {
    "preflight.access": access,
    "preflight.versions": versions,
    "preflight.exclusive_profile": exclusive_profile,
    "preflight.scheduler": scheduler,
    "preflight.gpu_sharing": gpu_sharing,
    "preflight.gpu_count": gpu_count,
    "preflight.capacity": free_capacity,
    "preflight.gpu_labels": gpu_labels,
    "preflight.gpu_mode": gpu_mode,
    "preflight.runtime_class": runtime_class,
    "preflight.priority_classes": priority_classes,
    "preflight.storage_class": storage_class,
    "preflight.psa_default": psa_default,
    "preflight.namespaces": namespaces,
    "preflight.max_pods": max_pods,
    "preflight.node_pressure": node_pressure,
    "preflight.queues": queue_tree,
    "preflight.foreign_queues": foreign_queues,
    "preflight.blast_radius": blast_radius,
    "preflight.webhooks": webhooks,
    "preflight.certificates": certificates,
    "preflight.ingress_class": ingress_class,
    "preflight.tls": tls,
    "preflight.pull_secrets": pull_secrets,
}


def observe(at: Snapshot) -> tuple[Json, dict[str, float]]:
    """(observations, seconds) by check id; one observation that fails does not stop the others."""
    found: Json = {}
    seconds: dict[str, float] = {}
    for check_id, look in CHECKS.items():
        begun = time.monotonic()
        try:
            found[check_id] = look(at)
        except ClusterError as error:
            found[check_id] = {"error": str(error)}
        seconds[check_id] = time.monotonic() - begun
    return found, seconds


def live_facts(at: Snapshot) -> Json:
    """Facts of this cluster that expectations are computed from."""
    nodes = capacity.gpu_nodes(at.nodes)
    service = at.cluster.get("/api/v1/namespaces/default/services/kubernetes")
    return {
        "apiAddress": service["spec"]["clusterIP"],
        "gpuNodes": [n["metadata"]["name"] for n in nodes],
        "labelledGpus": {
            n["metadata"]["name"]: int(pods.label(n, names.GPU_COUNT_LABEL) or 0) for n in nodes
        },
        "freeGpus": at.capacity.free,
        "gpuSharing": gpu_sharing(at)["gpuSharing"],
    }


def applicable(found: Json) -> dict[str, bool]:
    """Which of the checks that an environment may declare n/a could run here."""
    ingress = bool(found["preflight.ingress_class"].get("names"))
    return {
        "preflight.ingress_class": ingress,
        "preflight.tls": ingress and bool(found["preflight.tls"].get("domain")),
        "preflight.pull_secrets": bool(found["preflight.pull_secrets"].get("named")),
    }
