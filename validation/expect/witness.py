"""Who may tell which GPU the kubelet gave to a pod."""

from __future__ import annotations

from typing import Any

# Where an exporter runs on the node it has to know the pod; where none does, nobody beside the pod can tell.
WITNESS: dict[str, Any] = {"oneOf": ["DCGM exporter", "no DCGM exporter on the node"]}
