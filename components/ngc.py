"""NVIDIA's catalogue: which repository a release is taken from, and with which credentials."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import Secret

from components.catalog import Part
from components.charts import ChartSource
from components.config.full import Ngc
from components.logins import NGC_USER, docker_config
from components.logins import pull_secret as login

# The name that the product's charts look for.
PULL_SECRET = "runai-reg-creds"  # noqa: S105 (a name, not a secret)
_ENTITLED = "https://helm.ngc.nvidia.com/nvidia/runai"
_IMAGES = "nvcr.io"


def arguments(source: ChartSource, part: Part, ngc: Ngc) -> dict[str, Any]:
    """As Helm releases take them; the release with support has a repository of its own, behind a key."""
    found = source.arguments(part)
    if ngc.support_entitled and "repository_opts" in found:
        found["repository_opts"] = {
            "repo": _ENTITLED,
            "username": NGC_USER,
            "password": pulumi.Output.secret(ngc.api_key.get_secret_value()),
        }
    return found


def images(ngc: Ngc, mirror: str) -> str:
    """The registry that the charts are told, below the mirror; empty without one, as they know their own.

    Assumed: that the charts' images lie directly below it, as those of 2.25 did below their registry.
    """
    if not mirror:
        return ""
    return f"{mirror}/{_IMAGES}/nvidia/{'runai' if ngc.support_entitled else 'runai-oss'}"


def pull_secret(namespace: str, ngc: Ngc, opts: pulumi.ResourceOptions) -> Secret:
    """Credentials for the images of the release with support."""
    config = docker_config(_IMAGES, NGC_USER, ngc.api_key.get_secret_value())
    return login(f"{namespace}-{PULL_SECRET}", PULL_SECRET, namespace, config, opts)
