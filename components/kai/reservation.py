"""The account of KAI's reservation pods, as an object of the stack."""

from __future__ import annotations

import pulumi
from pulumi_kubernetes.core.v1 import ServiceAccount

from components.kai.inputs import RESERVATION
from components.labels import metadata


def reservation_account(pull_secret: str, opts: pulumi.ResourceOptions) -> ServiceAccount:
    """The ServiceAccount that KAI's charts since 0.17 leave out at each second upgrade.

    Their template is empty wherever the account is there already, and Helm deletes what a template no longer
    has (KAI-Scheduler, templates/services/resourcereservation-serviceaccount.yaml).
    `pull_secret` is empty without credentials for a mirror.
    """
    return ServiceAccount(
        "reservation-account",
        metadata=metadata(
            RESERVATION,
            RESERVATION,
            # A release that made the account itself must neither delete it nor argue about its fields.
            annotations={"helm.sh/resource-policy": "keep", "pulumi.com/patchForce": "true"},
        ),
        image_pull_secrets=[{"name": pull_secret}] if pull_secret else [],
        opts=opts,
    )
