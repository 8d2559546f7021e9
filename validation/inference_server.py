"""The inference test's server: what is deployed, with which model, and how each kind of server is started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from validation.settings import InferenceTest, OutputsError, Project, StackOutputs

Json = dict[str, Any]
NAME = "runai-kit-llm"
CLAIM = "runai-kit-models"
CONTAINER = "main"
MODELS = "/models"
SEED_FOLDER = "/seed/models"
CLAIM_SIZE = "1Gi"
PORT = 8000
METRICS_LABEL = "runai-kit.io/metrics"
GPUS = 1
# Two prompts with different answers; the first is the guide's.
PROMPTS = ("What is VMware Cloud Foundation?", "Count the GPUs.")


@dataclass(frozen=True)
class Plan:
    """Where the model comes from, and the description of the workload (roles/workload)."""

    project: str
    namespace: str
    queue: str
    source: Literal["claim", "seed", "hub"]
    claim: str
    item: Json


def plan(outputs: StackOutputs, project: str = "") -> Plan:
    """The deployment for a project, by default the one that the guide uses: the last that may hold a GPU.

    OutputsError says which setting has to be changed.
    """
    if not (outputs.inference.enabled and outputs.ingress.enabled):
        raise OutputsError(
            "inference needs Knative and the ingress: set runai-kit:knative.enabled and "
            "runai-kit:ingress.enabled, or declare vllm_inference n/a with a reason in the inventory"
        )
    chosen = outputs.project(project) if project else _default_project(outputs)
    wanted = outputs.validation.inference
    source = model_source(outputs)
    claim = {"claim": wanted.pvc, "seed": CLAIM, "hub": ""}[source]
    item: Json = {
        "name": NAME,
        "role": "server",
        "kind": "inference",
        "project": chosen.name,
        "image": outputs.images.get("inference", ""),
        "command": command(wanted),
        "environment": environment(wanted.server, bool(claim)),
        "gpus": GPUS,
        "memory": wanted.memory,
        "port": PORT,
        "minReplicas": wanted.minReplicas,
        "maxReplicas": max(1, wanted.minReplicas),
        "windowSeconds": wanted.windowSeconds,
        "initializationTimeoutSeconds": wanted.initializationTimeoutSeconds,
    }
    if wanted.server == "vllm":
        # Prometheus reads the server's own metrics by this label (components/prometheus).
        item["labels"] = {METRICS_LABEL: "server"}
    if claim:
        item["pvcs"] = [{"name": claim, "path": MODELS}]
    if not item["image"]:
        raise OutputsError(
            "stack output images.inference is empty: name an image in runai-kit:images.inference"
        )
    return Plan(chosen.name, chosen.namespace, chosen.queue, source, claim, item)


def _default_project(outputs: StackOutputs) -> Project:
    """KAI never preempts inference, so that it must fit into what project and department deserve."""
    for project in reversed(outputs.pooled):
        quotas = (project.gpu.deserved, outputs.department(project.department).gpu.deserved)
        if all(quota == -1 or quota >= GPUS for quota in quotas):
            return project
    raise OutputsError(
        f"no project deserves {GPUS} GPU, and KAI places inference only within the quota; "
        "raise a project's deserved"
    )


def model_source(outputs: StackOutputs) -> Literal["claim", "seed", "hub"]:
    """An existing claim, one that is filled from the seed image, or the server's own download."""
    wanted = outputs.validation.inference
    if wanted.pvc:
        return "claim"
    if not wanted.model.startswith("/"):
        return "hub"
    if outputs.images.get("seed") and wanted.model.startswith(f"{MODELS}/"):
        return "seed"
    raise OutputsError(
        f"validation.inference.model: found path {wanted.model} without a claim, expected "
        "validation.inference.pvc to name one that holds it, or a model's name that the server can fetch"
    )


def command(wanted: InferenceTest) -> list[str]:
    """How the server is started; both speak the OpenAI API on the same port."""
    listen = ["--host", "0.0.0.0", "--port", str(PORT)]  # noqa: S104 (in a pod)
    if wanted.server == "transformers":
        return ["transformers", "serve", wanted.model, *listen, "--device", "cpu"]
    load = [] if wanted.loadFormat == "auto" else ["--load-format", wanted.loadFormat]
    return ["vllm", "serve", wanted.model, *listen, *load]


def environment(server: str, local_model: bool) -> dict[str, str]:
    """Caches go to the pod's scratch volume; USER, because the pod's user id has no entry in passwd."""
    made = {
        "HOME": "/tmp",  # noqa: S108 (an emptyDir)
        "USER": "runai",
        "HF_HOME": "/tmp/huggingface",  # noqa: S108
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    if local_model:
        made["HF_HUB_OFFLINE"] = "1"
    if server == "transformers":
        # Threads of one small model only wait for each other on few cores.
        made["OMP_NUM_THREADS"] = "1"
    return made
