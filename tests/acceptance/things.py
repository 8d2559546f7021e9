"""Objects that other people might have in a cluster: nothing of them carries a label of the suite."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def pod(name: str, image: str, gpus: int = 0, labels: Json | None = None, **spec: Any) -> Json:
    """A pod that Pod Security `restricted` lets in, and that sleeps."""
    container: Json = {
        "name": "main",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", "600"],
        "resources": {"limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    context = {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {
            "containers": [container],
            "securityContext": context,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            **spec,
        },
    }


def queue(name: str, parent: str, quota: float, limit: float = -1) -> Json:
    """A Queue of KAI's, without bounds on CPU and memory."""
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    gpu = {"quota": quota, "limit": limit, "overQuotaWeight": 1}
    spec: Json = {"resources": {"gpu": gpu, "cpu": free, "memory": free}}
    return {
        "apiVersion": "scheduling.run.ai/v2",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {**spec, **({"parentQueue": parent} if parent else {})},
    }


def config_map(name: str, labels: Json, held: bool = True) -> Json:
    """A ConfigMap that a finalizer keeps when it is deleted."""
    meta: Json = {"name": name, "labels": labels}
    if held:
        meta["finalizers"] = ["example.org/held"]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}


def crd(plural: str, group: str, kind: str) -> Json:
    """A definition of which there are no objects."""
    schema = {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": plural.removesuffix("s"), "kind": kind},
            "versions": [version],
        },
    }


def refusal(name: str, user: str, resource: str) -> tuple[Json, Json]:
    """(policy, binding): the API server refuses updates of a core resource by one user."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": [resource], "operations": ["UPDATE"]}
    kind = "admissionregistration.k8s.io/v1"
    policy = {
        "apiVersion": kind,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Ignore",
            "matchConstraints": {"resourceRules": [rule]},
            "matchConditions": [{"name": "user", "expression": f"request.userInfo.username == '{user}'"}],
            "validations": [{"expression": "false", "message": "kept as it is"}],
        },
    }
    binding = {
        "apiVersion": kind,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    return policy, binding
