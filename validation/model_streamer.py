"""The Model Streamer's test: where the weights lie, and the Jobs that read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation import inference_server
from validation.settings import OutputsError, StackOutputs

Json = dict[str, Any]
CLAIM = "runai-kit-weights"
SERVICE = "runai-kit-s3"
SECRET = "runai-kit-s3-keys"  # noqa: S105 (a name, not a secret)
BUCKET = "models"
PORT = 7070
SCRIPT = "stream.py"
# Run:ai's streamer, as it is told to address a bucket by path and to take the credentials of its environment.
ENVIRONMENT = {
    "RUNAI_STREAMER_S3_USE_VIRTUAL_ADDRESSING": "0",
    "AWS_REGION": "us-east-1",
    "HOME": "/tmp",  # noqa: S108 (an emptyDir)
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Plan:
    """Project with namespace, names of what is made, and the two Jobs (items of roles/workload)."""

    project: str
    namespace: str
    claim: str
    secret: str
    service: str
    port: int
    bucket: str
    seedFolder: str  # noqa: N815 (read by templates)
    volume: Json
    s3: Json


def plan(outputs: StackOutputs, script: str, project: str = "") -> Plan:
    """Jobs for a project, by default the first whose nodes tests may use; `script` is the text of stream.py.

    OutputsError says which setting has to be changed.
    """
    for name in ("inference", "seed", "s3"):
        if not outputs.images.get(name):
            raise OutputsError(
                f"stack output images.{name} is empty: name an image in runai-kit:images.{name}, or declare "
                "model_streamer n/a with a reason in the inventory"
            )
    chosen = outputs.project(project) if project else outputs.chosen_project
    file = _model_folder(outputs) + "/model.safetensors"
    plain = f"{inference_server.MODELS}/{file}"
    endpoint = f"http://{SERVICE}.{chosen.namespace}.svc:{PORT}"
    base: Json = {
        "project": chosen.name,
        "image": outputs.images["inference"],
        "gpus": 0,
        "memory": "2Gi",
        "retries": 0,
        "files": {SCRIPT: script},
        "pvcs": [{"name": CLAIM, "path": inference_server.MODELS}],
    }
    start = ["python3", f"/opt/runai-kit/{SCRIPT}", "--plain", plain, "--streamed"]
    volume: Json = {
        **base,
        "name": "runai-kit-stream-volume",
        "role": "volume",
        "command": [*start, plain],
        "environment": dict(ENVIRONMENT),
    }
    from_s3 = [*start, f"s3://{BUCKET}/{file}", "--open", f"{endpoint}/{BUCKET}/{file}"]
    s3: Json = {
        **base,
        "name": "runai-kit-stream-s3",
        "role": "client",
        "command": from_s3,
        "environment": {**ENVIRONMENT, "AWS_ENDPOINT_URL": endpoint},
        "environmentSecret": SECRET,
    }
    folder = inference_server.SEED_FOLDER
    return Plan(chosen.name, chosen.namespace, CLAIM, SECRET, SERVICE, PORT, BUCKET, folder, volume, s3)


def _model_folder(outputs: StackOutputs) -> str:
    """Folder of the model below the seed's: the inference test's own model."""
    model = outputs.validation.inference.model
    prefix = f"{inference_server.MODELS}/"
    if not model.startswith(prefix):
        raise OutputsError(
            f"validation.inference.model: found {model}, expected a path below {prefix} that the seed image "
            "has, or model_streamer declared n/a"
        )
    return model.removeprefix(prefix)
