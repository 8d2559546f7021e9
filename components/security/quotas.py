"""A ResourceQuota per namespace: a bound on pods, and no way around the ingress.

GPUs, CPU and memory are not in it: a quota on them would make every pod state requests, and GPUs are KAI's
queues' to share. For the same reason there is no LimitRange: its defaults would change what tests and
models ask for.
"""

from __future__ import annotations

from typing import Any

from components.config.security import Security

NAME = "runai-kit"


def quota(security: Security) -> dict[str, Any]:
    """The spec."""
    return {
        "hard": {
            "pods": str(security.pods),
            # Requests come in by the ingress, where TLS ends.
            "services.nodeports": "0",
            "services.loadbalancers": "0",
        }
    }
