"""Stack outputs: what the inventory and the playbooks need to know, as plain JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.catalog import Part
from components.serving import bounds, serving_outputs, workload_images
from components.vks.outputs import operations_outputs, vks_outputs

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
        "domain": settings.domain,
        "nodePoolLabelKey": settings.node_pools.label_key,
        "capacitySource": settings.capacity.source,
        **platform.profile.outputs(),
        "namespaces": [
            {"name": item.name, "psa": item.psa, "existedBefore": item.name in platform.namespaces.foreign}
            for item in platform.wanted
        ],
        "monitoring": platform.monitored.outputs(),
        **serving_outputs(platform),
        "vksMonitoring": vks_outputs(settings, platform.packages),
        "vcfOperations": operations_outputs(settings, platform.root),
        "networkPolicies": settings.security.network_policies,
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
