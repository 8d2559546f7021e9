"""What the rules need from an object: its name for people, its pod, its images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policy.pod_security import Object

# The key by which Knative names the container that it adds to every pod.
_SIDECAR = "queue-sidecar-image"
# Custom resources of which an operator makes pods that use the host: drivers, device plugins, MPS.
_PRIVILEGED = {"ClusterPolicy": "gpu-operator", "GpuFractioningConfig": "gpu-fractioning"}
# A reference with a registry host inside an argument such as --reloader=quay.io/a/b:v1.
_IN_ARGUMENT = re.compile(r"=([a-z0-9-]+(?:\.[a-z0-9-]+)+(?::[0-9]+)?/[a-z0-9][^\s,]*)$")


def title(obj: Object) -> str:
    """`Deployment kai-scheduler/kai-operator`."""
    metadata = obj.get("metadata") or {}
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{obj.get('kind', '?')} {place}{metadata.get('name', '?')}"


def home_of(obj: Object) -> str:
    """The namespace of the object's pods: an operator's, where the object itself is cluster-wide."""
    own = (obj.get("metadata") or {}).get("namespace", "")
    return str(own or _PRIVILEGED.get(obj.get("kind", ""), ""))


def pod_of(obj: Object) -> Object | None:
    """The pod spec that the object creates, if it creates pods."""
    spec = obj.get("spec") or {}
    if obj.get("kind") in _PRIVILEGED:
        return {"hostPID": True, "containers": [{"name": "every operand"}]}
    if obj.get("kind") == "Pod":
        return dict(spec)
    if obj.get("kind") == "Config" and str(obj.get("apiVersion", "")).startswith("kai.scheduler/"):
        return _operand(spec)
    if obj.get("kind") == "CronJob":
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    if obj.get("kind") in {"Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job", "CronJob"}:
        return dict((spec.get("template") or {}).get("spec") or {})
    return None


def _operand(config: Object) -> Object | None:
    """What KAI's operator makes every operand's pod of; None for a fragment that only adds fields.

    The operator fills in what the context leaves open, `all` in lower case among it.
    """
    if not config.get("namespace"):
        return None
    context: Object = {
        "allowPrivilegeEscalation": False,
        "runAsNonRoot": True,
        "runAsUser": 10000,
        "capabilities": {"drop": ["all"]},
    }
    context |= (config.get("global") or {}).get("securityContext") or {}
    return {"containers": [{"name": "every operand", "securityContext": context}]}


def images(obj: Object) -> list[str]:
    """Every image the object names: in pods, in arguments, in KAI's Config, in Knative's settings."""
    if obj.get("kind") == "ConfigMap":
        return [image] if (image := (obj.get("data") or {}).get(_SIDECAR)) else []
    if obj.get("kind") == "KnativeServing":
        spec = obj["spec"]
        return sorted({*spec["registry"]["override"].values(), spec["config"]["deployment"][_SIDECAR]})
    if obj.get("kind") == "ClusterPolicy":
        return sorted(set(_operands(obj.get("spec") or {})))
    if obj.get("kind") == "CustomResourceDefinition":
        return []
    return sorted(set(_images(obj)))


def _operands(node: Any) -> Iterator[str]:
    """Images as the GPU Operator's custom resource names them, in three."""
    if isinstance(node, dict):
        if {"repository", "image", "version"} <= node.keys():
            yield f"{node['repository']}/{node['image']}:{node['version']}"
        for value in node.values():
            yield from _operands(value)


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and "." in value.partition("/")[0] and ":" in value.rpartition("/")[2]


def _images(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            if isinstance(item, str) and (match := _IN_ARGUMENT.search(item)) and "://" not in item:
                yield match.group(1)
            yield from _images(item)
    elif isinstance(node, dict):
        image = node.get("image")
        if isinstance(image, str):
            yield image
        elif isinstance(image, dict) and {"repository", "name"} <= image.keys():
            yield f"{image['repository']}/{image['name']}:{image.get('tag', '')}"
        yield from (
            str(value) for key, value in node.items() if key.endswith("Image") and _is_reference(value)
        )
        for value in node.values():
            yield from _images(value)
