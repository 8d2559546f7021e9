"""V5: a language model behind an OpenAI API, on Knative, scheduled by KAI, reached through the ingress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from validation.inference_server import GPUS, PROMPTS, Plan
from validation.settings import StackOutputs

Json = dict[str, Any]
# KAI binds by its binder; its events carry this name.
BINDER = "binder"
# Beyond the window: Knative's grace period (30 s), the queue-proxy's drain (30 s), and as much again to stop.
SCALE_DOWN_SECONDS = 90.0


@dataclass(frozen=True)
class Server:
    """What a kind of server promises.

    done: it ends a stream with OpenAI's marker. unknown_model: its status for a model that it does not serve.
    repeatable: at temperature 0 a restarted server gives the same text to the last letter.
    """

    done: bool
    unknown_model: int
    repeatable: bool


SERVERS = {
    "vllm": Server(done=True, unknown_model=404, repeatable=False),
    # Pinned to one model, it refuses others as a bad request; the last event of a stream carries the usage.
    "transformers": Server(done=False, unknown_model=400, repeatable=True),
}


def expected(outputs: StackOutputs, plan: Plan) -> Json:
    """Expectations by check id; GPUs are counted against the moment before the test."""
    wanted = outputs.validation.inference
    server = SERVERS[wanted.server]
    replicas = max(1, wanted.minReplicas)
    same: Json = {"sameText": True} if server.repeatable else {}
    return {
        "vllm_inference.ready": {
            "ready": "True",
            "scheme": "https",
            "inDomain": True,
            "replicas": {"atLeast": replicas},
            "why": [],
        },
        "vllm_inference.scheduled": {
            "pods": replicas,
            "schedulers": [outputs.schedulerName],
            "scheduledBy": [outputs.schedulerName],
            "boundBy": [BINDER],
            "queues": [plan.queue],
            "gpus": GPUS * replicas,
            "queueAllocated": GPUS * replicas,
        },
        "vllm_inference.tls": {
            "verified": True,
            "protocol": {"oneOf": ["TLSv1.2", "TLSv1.3"]},
            "foreignCa": "refused",
        },
        "vllm_inference.models": {"status": 200, "models": {"contains": wanted.model}},
        "vllm_inference.chat": {
            "statuses": [200] * len(PROMPTS),
            "empty": 0,
            "distinct": len(PROMPTS),
            "longest": {"atMost": wanted.maxTokens},
        },
        "vllm_inference.tokens": {"compared": len(PROMPTS), "mismatches": []},
        "vllm_inference.stream": {
            "status": 200,
            "pieces": {"atLeast": 2},
            "arrivals": {"atLeast": 2},
            "finished": True,
            "done": server.done,
            "sameText": True,
        },
        "vllm_inference.wrong_model": {"status": server.unknown_model, "namesModel": True},
        "vllm_inference.load": {"sent": wanted.load.requests, "ok": wanted.load.requests, "errors": {}},
        "vllm_inference.scale_to_zero": {
            "pods": 0,
            "queueAllocated": 0,
            "seconds": {"atMost": wanted.windowSeconds + SCALE_DOWN_SECONDS},
        },
        "vllm_inference.cold_start": {
            "status": 200,
            "podsBefore": 0,
            "newPod": True,
            "seconds": {"atMost": float(wanted.initializationTimeoutSeconds)},
            **same,
        },
    }


def applicable(outputs: StackOutputs) -> dict[str, bool]:
    """Scaling to zero can be looked at only where no replica is kept."""
    to_zero = outputs.validation.inference.minReplicas == 0 and outputs.inference.scaleToZero
    return {"vllm_inference.scale_to_zero": to_zero, "vllm_inference.cold_start": to_zero}
