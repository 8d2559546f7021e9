"""ValidatingAdmissionPolicies: whose pods a relaxed namespace takes, and no pod that reaches its node.

Pod Security works by a label that whoever may edit the namespace can lower; these rules do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.labels import PROJECT_KEY
from components.security.governed import Governed

Json = dict[str, Any]
PREFIX = "runai-kit"
PROJECTS = f"{PREFIX}-projects"
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def policies(relaxed: Sequence[Governed], projects: bool) -> dict[str, Json]:
    """Spec by name of the policy; the binding of the same name takes its place from `binding`."""
    found = {
        f"{PREFIX}-{item.name}": _policy(rules, _named(item.name))
        for item in relaxed
        if (rules := _relaxed(item))
    }
    if projects:
        found[PROJECTS] = _policy(
            host_rules("a project's namespace"),
            {"matchExpressions": [{"key": PROJECT_KEY, "operator": "Exists"}]},
        )
    return found


def binding(policy: str) -> Json:
    """Refuse, and leave a line in the audit log; where, the policy says itself."""
    return {"policyName": policy, "validationActions": ["Deny", "Audit"]}


def host_rules(where: str) -> list[Json]:
    """A pod may not use what belongs to its node."""
    every = [f"object.spec.?{field}.orValue([])" for field in _CONTAINERS]
    privileged = " && ".join(f"{c}.all(c, !c.?securityContext.?privileged.orValue(false))" for c in every)
    ports = " && ".join(
        f"{c}.all(c, c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0))" for c in every
    )
    namespaces = " && ".join(
        f"!object.spec.?{field}.orValue(false)" for field in ("hostNetwork", "hostPID", "hostIPC")
    )
    return [
        _rule("object.spec.?volumes.orValue([]).all(v, !has(v.hostPath))", "hostPath volumes", where),
        _rule(namespaces, "hostNetwork, hostPID and hostIPC", where),
        _rule(privileged, "privileged containers", where),
        _rule(ports, "ports of the node (hostPort)", where),
    ]


def _relaxed(item: Governed) -> list[Json]:
    """Where the level itself admits host access, the accounts are the bound."""
    rules = [] if item.psa == "privileged" else host_rules(f"namespace {item.name}")
    if not item.accounts:
        return rules
    known = ", ".join(f"'{name}'" for name in item.accounts)
    account = "object.spec.?serviceAccountName.orValue('default')"
    told = ", ".join(item.accounts)
    return [
        {
            "expression": f"{account} in [{known}]",
            "messageExpression": f"'namespace {item.name} is for pods of {told} only; found ' + {account}",
            "reason": "Forbidden",
        },
        *rules,
    ]


def _rule(expression: str, what: str, where: str) -> Json:
    return {"expression": expression, "message": f"{what}: not allowed in {where}", "reason": "Forbidden"}


def _named(namespace: str) -> Json:
    return {"matchLabels": {"kubernetes.io/metadata.name": namespace}}


def _policy(rules: list[Json], namespaces: Json) -> Json:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["pods", "pods/ephemeralcontainers"],
    }
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {"namespaceSelector": namespaces, "resourceRules": [rule]},
        "validations": rules,
    }
