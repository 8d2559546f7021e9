"""Helm's records of releases, as a cluster keeps them."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from tests.unit.day2.cluster import obj

Json = dict[str, Any]
# As Helm inside of Pulumi's provider writes its records, and what they describe.
PROVIDER = "pulumi-kubernetes"
RENDERED = "pulumi-resource-kubernetes"


def packed(manifest: str, **chart: Any) -> str:
    """A release as its Secret has it."""
    data = {"manifest": manifest, "chart": {"files": [], **chart}, "hooks": []}
    return base64.b64encode(base64.b64encode(gzip.compress(json.dumps(data).encode()))).decode()


def revision(
    name: str,
    namespace: str,
    *objects: Json,
    by: str = PROVIDER,
    status: str = "deployed",
    version: int = 1,
) -> Json:
    """The Secret of a revision that rendered these objects, written by a manager of that name."""
    manifest = "---\n".join(f"{json.dumps(body)}\n" for body in objects)
    labels = {"owner": "helm", "name": name, "status": status, "version": str(version)}
    return obj(
        "v1",
        "Secret",
        f"sh.helm.release.v1.{name}.v{version}",
        namespace,
        metadata={"labels": labels, "managedFields": [{"manager": by}]},
        data={"release": packed(manifest)},
    )
