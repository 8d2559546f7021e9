"""I11: does each exporter count what Telegraf passes on? One that does not is missing silently."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe import pods
from validation.observe.gpus import mode_of
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
CHECK = "vcf_operations.counters"
_EXPORTER = "app=nvidia-dcgm-exporter"
_PORT = 9400
_ALWAYS = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL")
# A passthrough GPU is no vGPU and has no such field.
_VGPU = "DCGM_FI_DEV_VGPU_MEMORY_USAGE"


def counters(at: Snapshot) -> Json:
    """Number of exporters, and per node the fields that its exporter does not tell."""
    modes = {node["metadata"]["name"]: mode_of(node) for node in at.nodes}
    exporters = at.cluster.items(
        names.in_namespace(names.PODS, at.outputs.vksMonitoring.dcgmNamespace), labelSelector=_EXPORTER
    )
    missing: Json = {}
    for pod in filter(pods.running, exporters):
        meta, where = pod["metadata"], str(pods.node(pod))
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}:{_PORT}/proxy/metrics"
        told = at.cluster.text(path)
        wanted = (*_ALWAYS, _VGPU) if modes.get(where) == "vgpu" else _ALWAYS
        if absent := [field for field in wanted if f"\n{field}{{" not in f"\n{told}"]:
            missing[where] = absent
    return {"exporters": len(exporters), "missing": missing}
