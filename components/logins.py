"""Logins to registries, in the form that kubelets read them from pull secrets."""

from __future__ import annotations

import base64
import json

import pulumi
from pulumi_kubernetes.core.v1 import Secret

from components.labels import metadata

# Whoever has an API key of NVIDIA's catalogue is this user there.
NGC_USER = "$oauthtoken"


def docker_config(host: str, username: str, password: str) -> str:
    """A login's text in Docker's own form. A secret."""
    auth = base64.b64encode(f"{username}:{password}".encode()).decode()
    return json.dumps({"auths": {host: {"username": username, "password": password, "auth": auth}}})


def pull_secret(
    resource: str, name: str, namespace: str, config: str, opts: pulumi.ResourceOptions
) -> Secret:
    """The Secret with a `docker_config`; `resource` is its name in the stack, `name` in the cluster."""
    return Secret(
        resource,
        metadata=metadata(name, namespace),
        type="kubernetes.io/dockerconfigjson",
        string_data=pulumi.Output.secret({".dockerconfigjson": config}),
        opts=opts,
    )
