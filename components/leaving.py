"""Pods that end beside the rest of a destroy: their namespace, which goes last, waits for them.

Pulumi waits until the pods of what it deletes are gone, and goes on only when all of a step are. Knative's
activator and webhook alone take 45 seconds (`DefaultDrainTimeout` of knative.dev/pkg/network).
"""

from __future__ import annotations

from collections.abc import Collection

import pulumi

# Documented at pulumi.com/registry/packages/kubernetes, "Pulumi annotations".
BESIDE = {"pulumi.com/deletionPropagationPolicy": "background"}
_KINDS = ("kubernetes:apps/v1:Deployment", "kubernetes:monitoring.coreos.com/v1:Prometheus")


def beside(foreign: Collection[str]) -> pulumi.ResourceTransformation:
    """Marks what has pods, but for those in `foreign` namespaces, which stay: nobody would wait for them."""

    def mark(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        found = args.props.get("metadata")
        if args.type_ not in _KINDS or not isinstance(found, dict) or found.get("namespace") in foreign:
            return None
        marked = {**found, "annotations": {**(found.get("annotations") or {}), **BESIDE}}
        return pulumi.ResourceTransformationResult({**args.props, "metadata": marked}, args.opts)

    return mark
