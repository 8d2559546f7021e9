"""V1 as the API shows it: one small function per check; `observe` runs them all and times each."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from validation import names
from validation.cluster import ClusterError
from validation.observe import (
    bed,
    capacity,
    certificates,
    fractioning,
    front,
    gpus,
    installation,
    pods,
    tenants,
)
from validation.observe.admission import psa_default, webhooks
from validation.observe.full import CHECKS as FULL
from validation.observe.full import applicable as full_applicable
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
T = TypeVar("T")

CHECKS: dict[str, Callable[[Snapshot], Json]] = {
    "preflight.versions": installation.versions,
    "preflight.exclusive_profile": installation.exclusive_profile,
    "preflight.scheduler": installation.scheduler,
    "preflight.gpu_sharing": installation.gpu_sharing,
    "preflight.fractioning": fractioning.fractioning,
    "preflight.gpu_count": gpus.gpu_count,
    "preflight.capacity": gpus.free_capacity,
    "preflight.gpu_labels": gpus.gpu_labels,
    "preflight.gpu_mode": gpus.gpu_mode,
    "preflight.runtime_class": installation.runtime_class,
    "preflight.priority_classes": installation.priority_classes,
    "preflight.storage_class": bed.storage_class,
    "preflight.psa_default": psa_default,
    "preflight.namespaces": installation.namespaces,
    "preflight.max_pods": bed.max_pods,
    "preflight.node_pressure": bed.node_pressure,
    "preflight.queues": tenants.queue_tree,
    "preflight.foreign_queues": tenants.foreign_queues,
    "preflight.blast_radius": tenants.blast_radius,
    "preflight.webhooks": webhooks,
    "preflight.certificates": certificates.certificates,
    "preflight.certificates_api": certificates.api_server,
    "preflight.certificates_knative": certificates.knative,
    "preflight.ingress_class": front.ingress_class,
    "preflight.tls": front.tls,
    "preflight.pull_secrets": installation.pull_secrets,
    **FULL,
}


def observe(at: Snapshot) -> tuple[Json, dict[str, float]]:
    """(observations, seconds) by check id; one observation that fails does not stop the others.

    An API server that gives no answer at all is waited for once, not once per check.
    """
    found: Json = {}
    seconds: dict[str, float] = {}
    silent = ""
    for check_id, look in CHECKS.items():
        begun = time.monotonic()
        try:
            found[check_id] = {"error": silent} if silent else look(at)
        except ClusterError as error:
            found[check_id] = {"error": str(error)}
            silent = "" if error.status else str(error)
        seconds[check_id] = time.monotonic() - begun
    return found, seconds


def live_facts(at: Snapshot) -> Json:
    """Facts of this cluster that expectations are computed from; None where the API did not tell.

    None is never met by an observation, and says of no test that it could not run.
    """
    nodes = _told(lambda: capacity.gpu_nodes(at.nodes)) or []
    service = _told(lambda: at.cluster.get("/api/v1/namespaces/default/services/kubernetes"))
    return {
        "apiAddress": service["spec"]["clusterIP"] if service else None,
        "gpuNodes": [n["metadata"]["name"] for n in nodes],
        "labelledGpus": {
            n["metadata"]["name"]: int(pods.label(n, names.GPU_COUNT_LABEL) or 0) * capacity.replicas(n)
            for n in nodes
        },
        "freeGpus": _told(lambda: at.capacity.free),
        "gpuSharing": _told(lambda: installation.gpu_sharing(at)["gpuSharing"]),
        "monitoring": at.outputs.monitoring.enabled,
        "inference": _serves_models(at),
        "workspaces": at.outputs.workspaces.enabled,
        "modelStreamer": all(at.outputs.images.get(name) for name in ("inference", "seed", "s3")),
        "vcfOperations": bool(at.outputs.vksMonitoring.packages or at.outputs.vcfOperations.url),
        "nodePool": at.outputs.validation.nodePool,
    }


def _told(look: Callable[[], T]) -> T | None:
    try:
        return look()
    except ClusterError:
        return None


def _serves_models(at: Snapshot) -> bool:
    """Is there Knative with an ingress, and what the server computes on? vLLM has no use for a fake GPU."""
    outputs = at.outputs
    pretended = outputs.fakeGpus.enabled and outputs.validation.inference.server == "vllm"
    return outputs.inference.enabled and outputs.ingress.enabled and not pretended


def applicable(found: Json) -> dict[str, bool]:
    """Which of the checks that an environment may declare n/a could run here."""
    return {
        "preflight.certificates_knative": bool(found["preflight.certificates_knative"].get("days")),
        "preflight.ingress_class": bool(found["preflight.ingress_class"].get("names")),
        "preflight.tls": bool(found["preflight.tls"]),
        "preflight.fractioning": bool(found["preflight.fractioning"].get("looked")),
        "preflight.pull_secrets": bool(found["preflight.pull_secrets"].get("named")),
        "preflight.network_policies": found.get("preflight.network_policies", {}).get("withPolicy")
        == "refused",
        **full_applicable(found),
    }
