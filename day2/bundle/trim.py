"""Objects as a bundle shows them: without bulk, and without what users put into their own."""

from __future__ import annotations

from typing import Any

from validation.redact import GONE, LAST_APPLIED

Json = dict[str, Any]
# Annotations of the cluster's parts; others are the users' own business.
KNOWN = (
    "kubernetes.io",
    "k8s.io",
    "knative.dev",
    "run.ai",
    "kai.scheduler",
    "runai",
    "gpu-",
    "pod-group",
    "pulumi.com",
)
_LONGEST = 4000


def object_(obj: Json, users: bool) -> Json:
    """One object; `users`: it is in a project's namespace, so its variables and annotations are not ours."""
    meta = {k: v for k, v in (obj.get("metadata") or {}).items() if k != "managedFields"}
    annotations = {k: v for k, v in (meta.get("annotations") or {}).items() if k != LAST_APPLIED}
    if users:
        annotations = {k: v if any(word in k for word in KNOWN) else GONE for k, v in annotations.items()}
    if "annotations" in meta:
        meta["annotations"] = annotations
    trimmed = _short({**obj, "metadata": meta})
    return _without_variables(trimmed) if users else trimmed  # type: ignore[no-any-return]


def secret(obj: Json) -> Json:
    """Name, type and keys of a Secret, and how long each value is (bytes, in base64)."""
    meta = obj["metadata"]
    return {
        "namespace": meta.get("namespace", ""),
        "name": meta["name"],
        "type": obj.get("type", ""),
        "created": meta.get("creationTimestamp", ""),
        "keys": {key: len(value) for key, value in (obj.get("data") or {}).items()},
    }


def crd(obj: Json) -> Json:
    """Name, versions and conditions of a CustomResourceDefinition."""
    return {
        "name": obj["metadata"]["name"],
        "versions": [v["name"] for v in obj["spec"]["versions"] if v.get("served")],
        "conditions": {c["type"]: c["status"] for c in (obj.get("status") or {}).get("conditions") or []},
        "deleting": obj["metadata"].get("deletionTimestamp", ""),
    }


def _without_variables(node: Any) -> Any:
    """`env` of containers and pod templates: names stay, values go."""
    if isinstance(node, list):
        return [_without_variables(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: [{**item, "value": GONE} if "value" in item else item for item in value]
        if key == "env" and isinstance(value, list)
        else _without_variables(value)
        for key, value in node.items()
    }


def _short(node: Any) -> Any:
    """Long texts (a CA bundle, a dashboard) are cut."""
    if isinstance(node, dict):
        return {key: _short(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_short(item) for item in node]
    if isinstance(node, str) and len(node) > _LONGEST:
        return f"{node[:_LONGEST]}… ({len(node)} characters)"
    return node
