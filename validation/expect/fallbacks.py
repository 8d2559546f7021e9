"""V10: what the guide says to do when something does not go as planned, each provoked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.expect.nodes import Bed, need
from validation.expect.over_quota import ImpossibleError

QUEUE = "kit-fallbacks"
OPEN_QUEUE = "kit-fallbacks-open"
MIRROR = "runai-kit-fallbacks-mirror"
# Files of the data set; ports of the mirror's Service: it serves, it never answers, nobody listens.
FILES = 4
PORTS = {"mirror": 8080, "silent": 8081, "refusing": 8082}


@dataclass(frozen=True)
class Plan:
    """`limit`: GPUs of the limited queue; `tooBig`: GPUs that no node has."""

    limit: int
    tooBig: int  # noqa: N815  (a key that the role reads)
    nodes: int


def plan(bed: Bed) -> Plan:
    """One GPU under a limit of one; a pod of one GPU more than the biggest node offers."""
    need(bed, 1, "fallbacks")
    if not bed.nodes:
        raise ImpossibleError("fallbacks needs a GPU node")
    return Plan(limit=1, tooBig=max(node.gpus for node in bed.nodes) + 1, nodes=len(bed.nodes))


def origins(namespace: str, mirror: str) -> list[str]:
    """Addresses in the order in which they are tried: two that do not answer, then the mirror."""
    place = f"http://{MIRROR}.{namespace}.svc"
    silent, refusing = f"{place}:{PORTS['silent']}", f"{place}:{PORTS['refusing']}"
    return [silent, refusing, mirror or f"{place}:{PORTS['mirror']}"]


def expected(made: Plan, token: str, tried: list[str], own_mirror: bool) -> dict[str, Any]:
    """Expectations by check id; `token` is what the job writes into its log, `tried` are the origins."""
    mirror: dict[str, Any] = {"phase": "Succeeded", "failedOrigins": tried[:-1], "servedBy": tried[-1]}
    if own_mirror:
        mirror["filesFromMirror"] = FILES
    return {
        "fallbacks.quota": {
            "phase": "Pending",
            "cause": "quota",
            "queue": QUEUE,
            "limit": made.limit,
            "running": made.limit,
        },
        "fallbacks.capacity": {
            "phase": "Pending",
            "cause": "capacity",
            "queueLimit": -1,
            "asked": made.tooBig,
        },
        "fallbacks.logs": {"api": token, "kubelet": token},
        "fallbacks.mirror": mirror,
    }
