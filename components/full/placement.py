"""Where the product's own pods run, in the words of its charts."""

from __future__ import annotations

from typing import Any

from components.config.full import Nodes


def placement(nodes: Nodes) -> dict[str, Any]:
    """`affinity` and `tolerations`; nothing where the settings leave it to the charts."""
    result: dict[str, Any] = {}
    if nodes.labels:
        terms = [{"key": key, "operator": "In", "values": [value]} for key, value in nodes.labels.items()]
        required = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
        result["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    if nodes.tolerations:
        result["tolerations"] = [
            {key: value for key, value in item.model_dump().items() if value} for item in nodes.tolerations
        ]
    return result
