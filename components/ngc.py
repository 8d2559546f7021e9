"""NVIDIA's catalogue: which repository a release is taken from, and with which credentials."""

from __future__ import annotations

import base64
import json
from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import Secret

from components.catalog import Part
from components.charts import ChartSource
from components.config.full import Ngc
from components.labels import metadata

# The name that the product's charts look for.
PULL_SECRET = "runai-reg-creds"  # noqa: S105 (a name, not a secret)
_USER = "$oauthtoken"
_ENTITLED = "https://helm.ngc.nvidia.com/nvidia/runai"
_IMAGES = "nvcr.io"


def arguments(source: ChartSource, part: Part, ngc: Ngc) -> dict[str, Any]:
    """As Helm releases take them; the release with support has a repository of its own, behind a key."""
    found = source.arguments(part)
    if ngc.support_entitled and "repository_opts" in found:
        found["repository_opts"] = {
            "repo": _ENTITLED,
            "username": _USER,
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
    key = ngc.api_key.get_secret_value()
    auth = base64.b64encode(f"{_USER}:{key}".encode()).decode()
    content = json.dumps({"auths": {_IMAGES: {"username": _USER, "password": key, "auth": auth}}})
    return Secret(
        f"{namespace}-{PULL_SECRET}",
        metadata=metadata(PULL_SECRET, namespace),
        type="kubernetes.io/dockerconfigjson",
        string_data=pulumi.Output.secret({".dockerconfigjson": content}),
        opts=opts,
    )
