"""Accounts of the Knative Operator's own pods: the way of the mirror's pull secret into them."""

from __future__ import annotations

import pulumi
from pulumi_kubernetes.core.v1 import ServiceAccount

from components.catalog import Part
from components.labels import metadata

# knative/operator config/charts/knative-operator/templates/operator.yaml, release 1.21.
NAMES = ("knative-operator", "operator-webhook")


def accounts(operator: Part, pull_secret: str, parent: pulumi.Resource) -> list[ServiceAccount]:
    """Declared before the release, whose chart has no value for pull secrets; none without a secret.

    Helm takes an object that is there for its own when it carries these marks, and leaves alone fields that
    the chart does not name. From then on it deletes them, too: Pulumi does not.
    """
    if not pull_secret:
        return []
    home = operator.namespace()
    marks = {
        "meta.helm.sh/release-name": operator.name,
        "meta.helm.sh/release-namespace": home,
        # On a cluster where the release made them before.
        "pulumi.com/patchForce": "true",
    }
    return [
        ServiceAccount(
            f"{operator.name}-account-{name}",
            metadata=metadata(name, home, {"app.kubernetes.io/managed-by": "Helm"}, marks),
            image_pull_secrets=[{"name": pull_secret}],
            opts=pulumi.ResourceOptions(parent=parent, retain_on_delete=True),
        )
        for name in NAMES
    ]
