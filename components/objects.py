"""Declares objects of a release's own manifests as resources, as they are."""

from __future__ import annotations

from typing import Any

import pulumi

Object = dict[str, Any]


def declare(obj: Object, opts: pulumi.ResourceOptions, name: str = "") -> pulumi.CustomResource:
    """One resource for one object, called `name` or as the object is; its type is its kind's own.

    The typed classes of the SDK would only rename keys that are right already.
    """
    version = obj["apiVersion"]
    token = f"kubernetes:{version if '/' in version else f'core/{version}'}:{obj['kind']}"
    return pulumi.CustomResource(token, name or obj["metadata"]["name"], dict(obj), opts)
