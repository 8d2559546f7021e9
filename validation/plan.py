"""The plan of a run (run.json): what was asked for, and the installation as its stack describes it."""

from __future__ import annotations

from typing import Any

from validation.settings import StackOutputs

Json = dict[str, Any]
# Outputs that say how the installation was set up; none of them holds a secret.
SETTINGS = {
    *("domain", "gpuSharing", "placement", "capacitySource", "departments", "projects", "namespaces"),
    *("monitoring", "inference", "ingress", "workspaces", "fakeGpus", "expectedGpus", "validation"),
}


def plan(outputs: StackOutputs, tests: list[str], cluster: Json) -> Json:
    """Everything that the report says of an installation, without a secret; `cluster`: what its API said."""
    return {
        "environment": outputs.environment,
        "context": outputs.context,
        "clusterKind": outputs.clusterKind,
        "profile": outputs.profile,
        "driver": outputs.driver,
        "domain": outputs.domain or "",
        "cluster": cluster,
        "tests": tests,
        "components": [c.model_dump(include={"name", "version", "provenance"}) for c in outputs.components],
        "fakeGpus": outputs.fakeGpus.enabled,
        "images": {name: image for name, image in outputs.images.items() if image},
        "ingressSource": outputs.ingress.source if outputs.ingress.enabled else "",
        "inferenceServer": outputs.validation.inference.server if outputs.inference.enabled else "",
        "vksPackages": bool(outputs.vksMonitoring.packages),
        "privateCa": bool(outputs.tls.ca),
        "settings": outputs.model_dump(include=SETTINGS),
        "support": {name: said.model_dump() for name, said in outputs.support.items()},
    }
