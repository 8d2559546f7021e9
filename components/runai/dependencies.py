"""Reads a cluster's state and the tree of what it depends on.

Shape: `status.state`, and `status.dependencies.{required,optional}` of nodes
`{available, reason?, components?}` (field evidence from 2.24.82, and the OpenAPI document of the same line).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components.runai.client import Json

CONNECTED = "Connected"


def state(cluster: Json) -> str:
    """WaitingToConnect, Connected, Disconnected, MissingPrerequisites, ServiceIssues or Unknown."""
    return str((cluster.get("status") or {}).get("state") or "Unknown")


def reasons(cluster: Json) -> list[str]:
    """Why the cluster is not connected: its state, what is required and missing, parts that are not ready."""
    found = state(cluster)
    if found == CONNECTED:
        return []
    status: Json = cluster.get("status") or {}
    tree: Json = status.get("dependencies") or {}
    lines = [f"state {found}", *missing(tree.get("required") or {}, "required")]
    for name, operand in sorted((status.get("operands") or {}).items()):
        if not operand.get("ready", True):
            told = "; ".join(operand.get("reasons") or []) or "not ready"
            lines.append(f"operand {name}: {told}")
    for condition in status.get("conditions") or []:
        if condition.get("status") == "False":
            lines.append(f"condition {condition.get('type')}: {condition.get('message')}")
    return lines


def optional(cluster: Json) -> list[str]:
    """What the cluster can do without, and lacks."""
    tree: Json = (cluster.get("status") or {}).get("dependencies") or {}
    return list(missing(tree.get("optional") or {}, "optional"))


def missing(nodes: Json, path: str) -> Iterator[str]:
    """One line per unavailable node that has a reason of its own, or has none below it.

    Components of an available node are alternatives (nvidia beside amd) and say nothing.
    """
    for name, node in sorted(nodes.items()):
        if node.get("available", False):
            continue
        here = f"{path}/{name}"
        below = list(missing(_components(node), here))
        if node.get("reason") or not below:
            yield f"{here}: {node.get('reason') or 'not available'}"
        yield from below


def _components(node: Any) -> Json:
    return node.get("components") or {}
