"""Stack outputs: what the inventory and the playbooks need to know, as plain JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from components.catalog import Part
from components.kai.inputs import NAME, QUEUE_LABEL, RESERVATION
from components.labels import SCHEDULED
from components.serving import bounds, serving_outputs, workload_images
from components.shares import ResolvedQueues

if TYPE_CHECKING:
    from components.platform import Platform


def describe(platform: Platform, environment: str) -> dict[str, pulumi.Input[object]]:
    """All outputs; only what depends on the capacity has to wait for the cluster."""
    settings, catalog = platform.settings, platform.catalog
    return {
        "environment": environment,
        "context": settings.cluster.context,
        "kubeconfig": settings.cluster.kubeconfig,
        "profile": settings.profile,
        "clusterKind": settings.cluster.kind,
        "driver": "kai",
        "domain": settings.domain,
        "schedulerName": NAME,
        "queueLabelKey": QUEUE_LABEL,
        "reservationNamespace": RESERVATION,
        "nodePoolLabelKey": settings.node_pools.label_key,
        "gpuSharing": settings.scheduler.gpu_sharing,
        "placement": {"gpu": settings.scheduler.placement.gpu, "cpu": settings.scheduler.placement.cpu},
        "capacitySource": settings.capacity.source,
        "capacityGpus": platform.capacity.apply(lambda pools: sum(pools.values())),
        "departments": platform.queues.apply(lambda resolved: _departments(platform, resolved)),
        "projects": platform.queues.apply(lambda resolved: _projects(platform, resolved)),
        "projectNamespaceLabels": dict(SCHEDULED),
        "namespaces": [
            {"name": item.name, "psa": item.psa, "existedBefore": item.name in platform.namespaces.foreign}
            for item in platform.wanted
        ],
        "monitoring": platform.monitored.outputs(),
        **serving_outputs(platform),
        "fakeGpus": {"enabled": settings.fake_gpus.enabled, "mode": settings.fake_gpus.mode},
        "expectedGpus": platform.expected,
        "images": workload_images(settings, catalog),
        "validation": bounds(settings),
        "support": {
            name: said.model_dump(mode="json", by_alias=True) for name, said in catalog.support.items()
        },
        "components": [
            _component(catalog.parts[key], settings.images.source == "packages")
            for key in platform.parts.values()
        ],
    }


def _component(part: Part, packaged: bool) -> dict[str, str]:
    built = packaged and part.provenance == "upstream"
    return {
        "name": part.name,
        "version": part.version,
        "provenance": "built-from-packages" if built else part.provenance,
        "namespace": part.namespace(),
    }


def _departments(platform: Platform, resolved: ResolvedQueues) -> list[dict[str, Any]]:
    return [
        {
            "name": item.name,
            "queue": item.name,
            "gpu": resolved.quotas[item.name].output(),
            "nodePool": item.node_pool,
        }
        for item in platform.settings.departments
    ]


def _projects(platform: Platform, resolved: ResolvedQueues) -> list[dict[str, Any]]:
    prefix = platform.catalog.project_namespace.prefix
    return [
        {
            "name": project.name,
            "department": department.name,
            "namespace": f"{prefix}{project.name}",
            "queue": project.name,
            "gpu": resolved.quotas[project.name].output(),
            "nodePool": department.node_pool,
        }
        for department, project in platform.settings.projects()
    ]
