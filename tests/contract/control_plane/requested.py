"""What the API refuses in the spec of a workload, as far as it is documented."""

from __future__ import annotations

from typing import Any

from tests.contract.control_plane.failures import FailureError
from tests.contract.control_plane.kinds import INFERENCE, Kind

Json = dict[str, Any]
# Fields that only one kind has.
_ONLY = {
    "Training": {"parallelism", "completions"},
    "Inference": {"servingPort", "autoscaling", "servingConfiguration"},
}


def check(kind: Kind, spec: Json) -> None:
    """400 with the field."""
    for other, fields in _ONLY.items():
        if other != kind.type and (wrong := sorted(fields & set(spec))):
            raise FailureError(400, f"Bad request - {', '.join(wrong)}: not fields of a {kind.type}")
    if not spec.get("image"):
        raise FailureError(400, "Bad request - spec.image is required")
    _compute(spec.get("compute") or {})
    _storage(spec.get("storage") or {})
    for url in spec.get("exposedUrls") or []:
        if not url.get("container"):
            raise FailureError(400, "Bad request - exposedUrls.container is mandatory")
    if kind is INFERENCE:
        _serving(spec)


def _compute(compute: Json) -> None:
    devices, portion = compute.get("gpuDevicesRequest", 0), compute.get("gpuPortionRequest")
    if not isinstance(devices, int) or devices < 0:
        raise FailureError(400, "Bad request - gpuDevicesRequest must be a whole number, 0 or more")
    if portion is not None and (not 0 < portion <= 1 or devices < 1):
        raise FailureError(400, "Bad request - gpuPortionRequest is a part of each requested device")


def _storage(storage: Json) -> None:
    mandatory = {
        "pvc": ("path",),
        "configMapVolume": ("configMap", "mountPath"),
        "secretVolume": ("secret", "mountPath"),
        "emptyDirVolume": ("path",),
    }
    for name, keys in mandatory.items():
        for item in storage.get(name) or []:
            if missing := [key for key in keys if not item.get(key)]:
                raise FailureError(400, f"Bad request - {name}: {', '.join(missing)} mandatory")
    if any(not item.get("existingPvc") for item in storage.get("pvc") or []):
        raise FailureError(400, "Bad request - only existing claims are doubled")


def _serving(spec: Json) -> None:
    if not (spec.get("servingPort") or {}).get("container"):
        raise FailureError(400, "Bad request - servingPort.container is mandatory")
    scaling = spec.get("autoscaling") or {}
    least, most = scaling.get("minReplicas", 1), scaling.get("maxReplicas")
    most = max(1, least) if most is None else most
    if most < least:
        raise FailureError(400, "Bad request - maxReplicas is below minReplicas")
    # From none to one needs no measure.
    if least < most and (least, most) != (0, 1) and not scaling.get("metric"):
        raise FailureError(400, "Bad request - metric is required where replicas are scaled")
