"""An inference as a Knative Service."""

from __future__ import annotations

from typing import Any

from tests.contract.control_plane.rendered.pod import labels, marks, pod

Json = dict[str, Any]
_SCALE = "autoscaling.knative.dev"


def inference(workload: Json) -> list[Json]:
    """One Service; what the API says of scaling and time becomes Knative's annotations."""
    spec, mine = workload["spec"], labels(workload)
    serving = spec.get("servingConfiguration") or {}
    running = pod(workload)
    running["containers"][0]["ports"] = [{"containerPort": spec["servingPort"]["container"]}]
    if serving.get("requestTimeoutSeconds"):
        running["timeoutSeconds"] = serving["requestTimeoutSeconds"]
    service = {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": workload["name"], "namespace": workload["namespace"], "labels": mine},
        "spec": {
            "template": {
                "metadata": {
                    "labels": mine,
                    "annotations": {
                        **marks(workload),
                        **_scaling(spec.get("autoscaling") or {}),
                        "serving.knative.dev/progress-deadline": (
                            f"{serving.get('initializationTimeoutSeconds') or 600}s"
                        ),
                    },
                },
                "spec": running,
            },
        },
    }
    return [service]


def _scaling(wanted: Json) -> Json:
    least = wanted.get("minReplicas")
    least = 1 if least is None else least
    found = {f"{_SCALE}/min-scale": least, f"{_SCALE}/max-scale": wanted.get("maxReplicas") or max(1, least)}
    if wanted.get("scaleToZeroRetentionSeconds"):
        found[f"{_SCALE}/scale-to-zero-pod-retention-period"] = f"{wanted['scaleToZeroRetentionSeconds']}s"
    if wanted.get("scaleDownDelaySeconds"):
        found[f"{_SCALE}/scale-down-delay"] = f"{wanted['scaleDownDelaySeconds']}s"
    return {key: str(value) for key, value in found.items()}
