"""What the GPU exporters tell, held against containers and the API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from validation import names, prometheus
from validation.cluster import ClusterError
from validation.observe import pods
from validation.observe.monitoring import TEST, gpus_of_nodes, number
from validation.observe.snapshot import Snapshot
from validation.patience import until

Json = dict[str, Any]
UTILISATION = "DCGM_FI_DEV_GPU_UTIL"


def gpu_fields(at: Snapshot, timeout: float) -> Json:
    """GPUs by metric of the exporter: how many of them report it."""
    expression = 'count by (__name__) (group by (__name__, UUID) ({__name__=~"DCGM_FI_DEV_.+"}))'

    def look() -> Json:
        found = prometheus.values(at.cluster, at.outputs, expression, "__name__")
        return {name: number(count) for name, count in sorted(found.items())}

    total = sum(gpus_of_nodes(at).values())
    found, _ = until(look, lambda seen: bool(seen) and set(seen.values()) == {total}, timeout)
    return found


def gpu_pods(at: Snapshot, role: str, timeout: float) -> Json:
    """GPUs by pod: the exporter's labels against the pods' own word, and all of them against the API."""

    def look() -> Json:
        now = Snapshot(at.cluster, at.outputs)
        series = prometheus.query(
            at.cluster, at.outputs, f'group by (namespace, pod, UUID) ({UTILISATION}{{pod!=""}})'
        )
        told: dict[str, set[str]] = {}
        for sample in series:
            labels = sample["metric"]
            told.setdefault(f"{labels['namespace']}/{labels['pod']}", set()).add(labels["UUID"])
        return {"whole": _whole(now, role, told), "different": _unlike(now, told)}

    found, _ = until(look, lambda seen: not seen["different"] and seen["whole"]["same"], timeout)
    return found


def _whole(at: Snapshot, role: str, told: Mapping[str, set[str]]) -> Json:
    """The pod with whole GPUs: UUIDs in Prometheus and inside of it."""
    found = [p for p in at.mine(TEST) if pods.label(p, names.ROLE_LABEL) == role and pods.running(p)]
    if len(found) != 1:
        return {"inPrometheus": 0, "inPod": 0, "same": False, "why": f"{len(found)} running pods"}
    meta = found[0]["metadata"]
    try:
        said = at.cluster.execute(meta["namespace"], meta["name"], ["nvidia-smi", "-L"])
    except ClusterError as error:
        said = str(error)
    inside = set(re.findall(r"UUID: ((?:GPU|MIG)-[0-9A-Za-z/-]+)", said))
    outside = told.get(pods.name(found[0]), set())
    return {
        "inPrometheus": len(outside),
        "inPod": len(inside),
        "same": bool(inside) and inside == outside,
        "uuids": {"prometheus": sorted(outside), "pod": sorted(inside)},
    }


def _unlike(at: Snapshot, told: Mapping[str, set[str]]) -> Json:
    """Pods for which the exporters name another number of GPUs than the API."""
    held = {pods.name(p): pods.gpus(p) for p in at.pods if pods.running(p) and pods.node(p) and pods.gpus(p)}
    return {
        name: {"api": held.get(name, 0), "prometheus": len(told.get(name, ()))}
        for name in sorted({*held, *told})
        if held.get(name, 0) != len(told.get(name, ()))
    }
