"""Bodies of `POST /api/v1/workloads/…`, in the words of the vendor's OpenAPI document."""

from __future__ import annotations

from typing import Any

from validation.runai.kinds import KINDS
from validation.runai.spec import common, pairs, readiness

Json = dict[str, Any]
TOKEN_FOLDER = "/run/runai-kit"  # noqa: S105 (a path)
TOKEN_FILE = f"{TOKEN_FOLDER}/token"
WORK = "/workspace"
NOTEBOOK_PORT, SERVER_PORT = 8888, 8000
# Evictions count as failed pods of a Job.
_RETRIES = 20
# Knative's own window; a request for it is not worth an annotation.
_WINDOW = 60
# Most that Knative lets a request take.
_REQUEST_SECONDS = 600


def refusal(item: Json) -> str:
    """Why this driver cannot state a workload, "" if it can."""
    kind = KINDS.get(item["kind"])
    if kind is None:
        return f"{item['name']}: found kind {item['kind']}, expected {', '.join(KINDS)}; use driver kai"
    unknown = sorted(
        key for key, value in item.items() if key not in kind.states and value not in (None, {}, [])
    )
    if unknown:
        return (
            f"{item['name']}: found {', '.join(unknown)}, which driver runai cannot state of a {kind.name}; "
            "use driver kai"
        )
    return ""


def body(item: Json, test: str, project: str, cluster: str) -> Json:
    """What is posted for a workload; `project` and `cluster` are ids."""
    specs = {"training": training, "workspace": workspace, "inference": inference}
    spec = specs[item["kind"]](item, test)
    return {"name": item["name"], "projectId": project, "clusterId": cluster, "spec": spec}


def training(item: Json, test: str) -> Json:
    """Spec of a training."""
    pods = item.get("pods") or 1
    return {
        **common(item, test),
        "parallelism": pods,
        "completions": pods,
        "backoffLimit": _RETRIES if item.get("retries") is None else item["retries"],
    }


def workspace(item: Json, test: str) -> Json:
    """Spec of a workspace, exposed to whoever has logged in; its token is in the Secret `<name>-token`."""
    port = item.get("port") or NOTEBOOK_PORT
    spec = common(item, test)
    # The image's own home belongs to another user.
    own = pairs({"HOME": "/tmp", "JUPYTER_TOKEN_FILE": TOKEN_FILE})  # noqa: S108
    volumes = {
        "secretVolume": [
            {"secret": f"{item['name']}-token", "mountPath": TOKEN_FOLDER, "defaultMode": "0440"}
        ],
        "emptyDirVolume": [{"path": WORK}],
    }
    return {
        **spec,
        "environmentVariables": [*own, *spec.get("environmentVariables", [])],
        "storage": {**spec.get("storage", {}), **volumes},
        "exposedUrls": [
            {
                "container": port,
                "authorizationType": "authenticatedUsers",
                "toolType": "jupyter-notebook",
                "toolName": "Jupyter",
            }
        ],
        "probes": readiness(item.get("probePath") or "/api", port),
    }


def inference(item: Json, test: str) -> Json:
    """Spec of an inference that everybody may ask, as the guide has it."""
    port, seconds = item.get("port") or SERVER_PORT, item.get("initializationTimeoutSeconds") or 600
    least = 1 if item.get("minReplicas") is None else item["minReplicas"]
    return {
        **common({**item, "annotations": _annotations(item)}, test),
        "servingPort": {"container": port, "protocol": "http", "authorizationType": "public"},
        "autoscaling": {"minReplicas": least, "maxReplicas": item.get("maxReplicas") or max(1, least)},
        "servingConfiguration": {
            "initializationTimeoutSeconds": seconds,
            "requestTimeoutSeconds": min(seconds, _REQUEST_SECONDS),
        },
        "probes": readiness(item.get("probePath") or "/health", port),
    }


def _annotations(item: Json) -> Json:
    """The window has no field in the API: only as Knative's annotation."""
    window = item.get("windowSeconds") or _WINDOW
    own = {} if window == _WINDOW else {"autoscaling.knative.dev/window": f"{window}s"}
    return {**own, **(item.get("annotations") or {})}
