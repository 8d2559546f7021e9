"""V1: what a cluster must look like before a test may touch it."""

from __future__ import annotations

from typing import Any

from validation.expect import full
from validation.names import NON_PREEMPTIBLE_PRIORITY
from validation.settings import StackOutputs

Json = dict[str, Any]


def expected(
    outputs: StackOutputs,
    live: Json,
    psa_default: str,
    min_free_pods: int,
    min_certificate_days: int,
    min_renewed_days: int,
    probe_token: str,
) -> Json:
    """Expectations by check id.

    `live` holds facts that no setting knows: the API Service's address, the GPU nodes, and what GPU feature
    discovery counted on them.
    """
    counts = {node: n for node, n in (outputs.expectedGpus or live["labelledGpus"]).items() if n}
    return {
        "preflight.versions": _versions(outputs),
        "preflight.exclusive_profile": {"others": []},
        "preflight.scheduler": {"conditions": {"Deployed": "True", "Available": "True"}, "notReady": []},
        "preflight.gpu_sharing": {"gpuSharing": outputs.gpuSharing},
        "preflight.fractioning": {"sharing": outputs.sharing, "missing": []},
        "preflight.gpu_count": {"allocatable": {"exactly": counts}},
        "preflight.capacity": {"freeGpus": {"atLeast": 1}},
        "preflight.gpu_labels": {"missing": {}},
        "preflight.gpu_mode": {
            "mode": outputs.fakeGpus.mode if outputs.fakeGpus.enabled else {"oneOf": ["passthrough", "vgpu"]}
        },
        "preflight.runtime_class": {"handler": {"matches": "."}},
        "preflight.priority_classes": {
            "train": {"atMost": NON_PREEMPTIBLE_PRIORITY - 1},
            "build": {"atLeast": NON_PREEMPTIBLE_PRIORITY},
        },
        "preflight.storage_class": {"defaults": 1},
        "preflight.volume": {"claim": "Bound", "pod": "Succeeded", "read": probe_token},
        "preflight.psa_default": {"level": psa_default},
        "preflight.namespaces": {n.name: n.psa for n in outputs.namespaces},
        "preflight.network_policies": {"withoutPolicy": "reached", "withPolicy": "refused"},
        "preflight.dns": {"pod": "Succeeded", "address": live["apiAddress"]},
        "preflight.max_pods": {node: {"atLeast": min_free_pods} for node in live["gpuNodes"]},
        "preflight.node_pressure": {"faults": {}},
        "preflight.queues": _queues(outputs),
        "preflight.foreign_queues": {"foreign": []},
        "preflight.blast_radius": {"atRisk": []},
        "preflight.webhooks": {"queue": "answers", "podGroup": "answers", "pod": "answers"},
        "preflight.certificates": {"fewestDays": {"atLeast": min_certificate_days}},
        "preflight.certificates_api": {"days": {"atLeast": min_certificate_days}},
        "preflight.certificates_knative": {"fewestDays": {"atLeast": min_renewed_days}},
        "preflight.ingress_class": {"defaults": 1},
        "preflight.tls": _tls(outputs, min_certificate_days),
        "preflight.pull_secrets": {"missing": []},
        **(full.expected(outputs, min_certificate_days) if outputs.profile == "full" else {}),
    }


def _versions(outputs: StackOutputs) -> Json:
    wanted: Json = {c.name: c.version.removeprefix("v") for c in outputs.components if c.namespace}
    for component in outputs.components:
        if component.name.lower() == "kubernetes":
            wanted[component.name] = component.version.removeprefix("v")
    wanted.setdefault("kubernetes", {"matches": r"^1\.\d+"})
    return wanted


def _tls(outputs: StackOutputs, min_days: int) -> Json:
    """A wildcard for each domain that is served, verified, and not about to end; one at least."""
    served = [
        (use, section.domain)
        for use, section in (("inference", outputs.inference), ("workspaces", outputs.workspaces))
        if section.enabled and outputs.ingress.enabled
    ]
    found = {
        use: {"names": {"contains": f"*.{domain}"}, "days": {"atLeast": min_days}} for use, domain in served
    }
    if found and outputs.tls.ca:
        found["ca"] = {"days": {"atLeast": min_days}}
    return found or {"domains": {"atLeast": 1}}


def _queues(outputs: StackOutputs) -> Json:
    tree: Json = {}
    for department in outputs.departments:
        tree[department.queue] = _queue(
            "", department.gpu.deserved, department.gpu.limit, department.gpu.overQuotaWeight
        )
    parents = {d.name: d.queue for d in outputs.departments}
    for project in outputs.projects:
        parent = parents[project.department]
        tree[project.queue] = _queue(
            parent, project.gpu.deserved, project.gpu.limit, project.gpu.overQuotaWeight
        )
    return tree


def _queue(parent: str, deserved: float, limit: float, weight: float) -> Json:
    # An unset limit of cpu or memory means zero to KAI and blocks every pod.
    return {
        "parent": parent,
        "deserved": deserved,
        "limit": limit,
        "overQuotaWeight": weight,
        "cpuLimit": -1,
        "memoryLimit": -1,
    }
