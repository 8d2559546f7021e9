"""Labels that mark what the kit made and what its parts select."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.catalog import Psa

MANAGED_BY = {"app.kubernetes.io/managed-by": "runai-kit"}
PROJECT_KEY = "runai-kit.io/project"
# The same on every project namespace: KAI matches namespaces by key and value. Its webhooks and its pod
# grouper leave every other namespace alone.
SCHEDULED = {"runai-kit.io/scheduler": "kai-scheduler"}

# From strict to lax.
LEVELS: tuple[Psa, ...] = ("restricted", "baseline", "privileged")
_PSA = "pod-security.kubernetes.io"


def ours(labels: Mapping[str, str]) -> bool:
    """Whether an object with these labels was made by the kit."""
    return MANAGED_BY.items() <= labels.items()


def pod_security(level: Psa) -> dict[str, str]:
    """Enforce the level; warn and audit against `restricted`, so that a relaxed namespace leaves a trace."""
    return {f"{_PSA}/enforce": level, f"{_PSA}/warn": "restricted", f"{_PSA}/audit": "restricted"}


def project_labels(project: str) -> dict[str, str]:
    """What Run:ai's controllers know a project's namespace by, also one that they did not make."""
    return {"runai/queue": project}


def metadata(
    name: str,
    namespace: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Object metadata with the kit's label; no namespace for cluster-wide objects."""
    result: dict[str, Any] = {"name": name, "labels": {**MANAGED_BY, **(labels or {})}}
    if namespace:
        result["namespace"] = namespace
    if annotations:
        result["annotations"] = dict(annotations)
    return result
