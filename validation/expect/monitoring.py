"""V8: what Prometheus must tell, computed from what the role deploys, the settings and the live nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from validation.expect.over_quota import ImpossibleError
from validation.settings import StackOutputs

DEPARTMENT = "kit-monitoring"
WHOLE, SHARED, WAITING = (f"{DEPARTMENT}-{part}" for part in ("whole", "shared", "waiting"))
SERVICE = "runai-kit-monitoring-service"
FRACTION = 0.5
# Requests by the status of their answer; the server knows the one path and not the other.
REQUESTS = {"200": ("/", 7), "404": ("/runai-kit-no-such-path", 3)}
# What the requirement names and guests with a vGPU report, too, and what the mode adds to it.
FIELDS = ("GPU_UTIL", "MEM_COPY_UTIL", "FB_USED", "FB_FREE", "SM_CLOCK", "ENC_UTIL", "DEC_UTIL")
MODE_FIELDS = {"passthrough": ("GPU_TEMP",), "vgpu": ("VGPU_LICENSE_STATUS",)}
ALERT = "KitPodGroupPending"


@dataclass(frozen=True)
class Plan:
    """GPUs: `whole` for one pod, `fraction` of one for another; `serving`: is there a service to ask."""

    whole: int
    fraction: float
    serving: bool

    @property
    def devices(self) -> int:
        """GPUs that the kubelet gives away for it."""
        return self.whole + 1


def plan(free: Mapping[str, int], budget: int, outputs: StackOutputs) -> Plan:
    """From free GPUs by node; two GPUs for the whole pod where that fits beside the shared one.

    `budget`: GPUs that tests may hold. Raises ImpossibleError with fewer than two.
    """
    total, most = min(budget, sum(free.values())), max(free.values(), default=0)
    if total < 2:
        raise ImpossibleError(f"monitoring: found {total} free GPUs, needs 2 (one whole, one shared)")
    whole = 2 if most >= 2 and total >= 3 else 1
    return Plan(whole, FRACTION, outputs.inference.enabled and outputs.ingress.enabled)


def expected(made: Plan, outputs: StackOutputs, nodes: Mapping[str, int], mode: str) -> dict[str, Any]:
    """Expectations by check id; `nodes` is GPUs by node, 0 for those without."""
    boards = outputs.monitoring.dashboards
    fields = [*FIELDS, *MODE_FIELDS.get(mode, ())]
    return {
        "monitoring.targets": {"down": {}, "pools": _pools(made, outputs, nodes)},
        "monitoring.rules": {"missing": [], "unhealthy": {}},
        "monitoring.queues": {"different": {}, "queues": _queues(made)},
        "monitoring.gpu_fields": {f"DCGM_FI_DEV_{name}": sum(nodes.values()) for name in fields},
        "monitoring.gpu_pods": {
            "whole": {"inPrometheus": made.whole, "inPod": made.whole, "same": True},
            "different": {},
        },
        "monitoring.requests": {
            "sent": {status: count for status, (_, count) in REQUESTS.items()},
            "counted": {status: count for status, (_, count) in REQUESTS.items()},
        },
        "monitoring.alert": {
            "fired": {"state": "firing", "queue_name": WAITING, "severity": "info"},
            "resolved": True,
        },
        "monitoring.dashboards": {
            "boards": {name: {"queries": {"atLeast": 1}, "empty": [], "failed": []} for name in boards}
        },
    }


def _pools(made: Plan, outputs: StackOutputs, nodes: Mapping[str, int]) -> dict[str, Any]:
    """Targets by source: as many as nodes where each node has one, else at least one."""
    exact = {
        "nvidia-dcgm-exporter": sum(1 for gpus in nodes.values() if gpus),
        "kubelet": len(nodes),
        "queue-proxy": 1 if made.serving else 0,
    }
    wanted = [
        scrape.name
        for scrape in outputs.monitoring.scrapes
        if scrape.always or (scrape.name == "queue-proxy" and made.serving)
    ]
    return {name: {"up": {"atLeast": exact.get(name, 1)}} for name in wanted}


def _queues(made: Plan) -> dict[str, Any]:
    held = {WHOLE: made.whole, SHARED: made.fraction, WAITING: 0, DEPARTMENT: made.whole + made.fraction}
    return {name: {"pods": gpus, "prometheus": gpus} for name, gpus in held.items()}
