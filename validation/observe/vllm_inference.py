"""V5 as the API, the server and the runner's own TLS client show it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from validation import https, names
from validation.cluster import Cluster, ClusterError
from validation.foreign import foreign_ca
from validation.inference_server import NAME, PROMPTS, Plan
from validation.ingress import Ingress
from validation.observe import chat, knative, pods, queues
from validation.observe.snapshot import Snapshot
from validation.quantity import tidy

Json = dict[str, Any]
TEST = "vllm_inference"
ROLE = "server"
UNKNOWN_MODEL = "runai-kit/no-such-model"
# The tokenizer counts in a process of its own, with the chat template, as the server should.
COUNT = """
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
counts = []
for text in json.loads(sys.argv[2]):
    asked = [{"role": "user", "content": text}]
    got = tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=True, return_dict=True)
    counts.append(len(got["input_ids"]))
print("COUNTS=" + json.dumps(counts))
"""
COUNT_SECONDS = 120.0


def endpoint(at: Snapshot, where: Ingress, url: str) -> chat.Endpoint:
    """The server under test, at the URL that its Service reports."""
    wanted = at.outputs.validation.inference
    return chat.Endpoint(where, url.rstrip("/"), wanted.model, wanted.maxTokens)


def ready(at: Snapshot, plan: Plan, say: Callable[[str], None]) -> Json:
    """Wait for the Service; its state, its URL, and why it is not Ready."""
    wanted = at.outputs.validation.inference
    seen = knative.wait_ready(
        at.cluster, plan.namespace, NAME, TEST, float(wanted.initializationTimeoutSeconds), say
    )
    host = str(seen["url"]).partition("://")[2]
    running = [p for p in knative.of_role(at.cluster, TEST, ROLE) if pods.running(p)]
    return {
        **seen,
        "inDomain": host.endswith(f".{at.outputs.inference.domain}"),
        "replicas": len(running),
    }


def scheduled(at: Snapshot, plan: Plan, then: Json) -> Json:
    """Who placed the pods, and where they are counted; `then` is the moment before the test."""
    mine = [p for p in at.mine(TEST) if pods.label(p, names.ROLE_LABEL) == ROLE and pods.active(p)]
    groups = [queues.group_of(p, at.groups) for p in mine]
    return {
        "pods": len(mine),
        "schedulers": sorted({str(p["spec"].get("schedulerName")) for p in mine}),
        "scheduledBy": sorted({w for p in mine for w in knative.told_by(at.cluster, p, "Scheduled")}),
        "boundBy": sorted({w for p in mine for w in knative.told_by(at.cluster, p, "Bound")}),
        # A pod without a PodGroup was not seen by KAI.
        "queues": sorted({str((g or {}).get("spec", {}).get("queue", "none")) for g in groups}),
        "gpus": tidy(sum(pods.gpus(p) + pods.fraction(p) for p in mine)),
        "queueAllocated": _allocated(at, plan, then),
        "nodes": sorted({pods.node(p) or "none" for p in mine}),
        "podGroups": sorted({pods.name(g) for g in groups if g}),
    }


def _allocated(at: Snapshot, plan: Plan, then: Json) -> int | float:
    """GPUs of the project's queue beyond what it held before the test."""
    held = float(queues.allocated(at.queues.get(plan.queue)))
    return tidy(held - float(then["allocated"].get(plan.queue, 0)))


def api(at: Snapshot, where: Ingress, url: str, plan: Plan) -> tuple[Json, Json]:
    """(observations by check id, transcript): models, answers, tokens, stream, an unknown model, TLS."""
    server = endpoint(at, where, url)
    transcript: Json = {"url": url, "model": server.model}
    counted = _explained(lambda: {"tokenizer": count_tokens(at.cluster, plan, server.model)})
    found: Json = {
        "vllm_inference.tls": _explained(lambda: tls(where, url)),
        "vllm_inference.models": _explained(lambda: chat.models(server)),
    }
    asked = _explained(lambda: {"said": [chat.ask(server, prompt) for prompt in PROMPTS]})
    said: list[chat.Said] = asked.get("said", [])
    transcript["answers"] = [{"prompt": p, **asdict(s)} for p, s in zip(PROMPTS, said, strict=False)]
    found["vllm_inference.chat"] = asked if "error" in asked else answers(said)
    found["vllm_inference.tokens"] = _failed(asked, counted) or tokens(said, counted["tokenizer"])
    streamed = _explained(lambda: chat.stream(server, PROMPTS[0]))
    if "error" not in streamed:
        streamed["sameText"] = bool(said) and streamed["text"] == said[0].text
        transcript["streamed"] = streamed["text"]
    found["vllm_inference.stream"] = streamed
    found["vllm_inference.wrong_model"] = _explained(lambda: chat.unknown_model(server, UNKNOWN_MODEL))
    return found, transcript


def answers(said: list[chat.Said]) -> Json:
    """What can be said of answers whose wording nobody knows."""
    return {
        "statuses": [s.status for s in said],
        "empty": sum(1 for s in said if not s.text.strip()),
        "distinct": len({s.text for s in said}),
        "longest": max((s.completion_tokens for s in said), default=0),
        "texts": [s.text for s in said],
        "faults": [s.error for s in said if s.error],
        "seconds": [round(s.seconds, 3) for s in said],
    }


def tokens(said: list[chat.Said], counted: list[int]) -> Json:
    """`usage.prompt_tokens` beside the tokenizer's own count."""
    pairs = [
        {"prompt": prompt, "usage": s.prompt_tokens, "tokenizer": own}
        for prompt, s, own in zip(PROMPTS, said, counted, strict=False)
    ]
    return {
        "compared": sum(1 for own in counted if own > 0),
        "mismatches": [pair for pair in pairs if pair["usage"] != pair["tokenizer"]],
        "counts": pairs,
    }


def count_tokens(cluster: Cluster, plan: Plan, model: str) -> list[int]:
    """Tokens per prompt, by the model's tokenizer in the server's pod; ClusterError shows what it said."""
    running = [p for p in knative.of_role(cluster, TEST, ROLE) if pods.running(p)]
    if not running:
        raise ClusterError(f"no pod of {plan.namespace}/{NAME} runs, so that nobody can count tokens")
    command = ["python3", "-c", COUNT, model, json.dumps(PROMPTS)]
    name = running[0]["metadata"]["name"]
    said = cluster.execute(plan.namespace, name, command, pods.container(running[0]), COUNT_SECONDS)
    match = re.search(r"^COUNTS=(\[.*\])$", said, re.MULTILINE)
    if not match:
        raise ClusterError(f"the tokenizer in {plan.namespace}/{name} counted nothing: {said.strip()[-300:]}")
    return [int(n) for n in json.loads(match.group(1))]


def tls(where: Ingress, url: str) -> Json:
    """The certificate under the stack's CA, and the same handshake with a CA that signed nothing."""
    host = https.host_of(url)
    shown = https.peer(where, host)
    try:
        https.peer(Ingress(where.address, where.port, foreign_ca()), host)
        foreign = "accepted"
    except https.CertificateError:
        foreign = "refused"
    return {
        "verified": True,
        "protocol": shown.protocol,
        "foreignCa": foreign,
        "names": shown.names,
        "issuer": shown.issuer,
        "notAfter": shown.not_after,
    }


def load(at: Snapshot, where: Ingress, url: str) -> tuple[Json, chat.Load | None]:
    """(observation, measurement) of the burst of requests."""
    bounds = at.outputs.validation.inference.load
    try:
        done = chat.load(endpoint(at, where, url), bounds.requests, bounds.concurrency)
    except https.HttpsError as error:
        return {"error": str(error)}, None
    return {**done.summary(), "concurrency": bounds.concurrency}, done


def scale_to_zero(at: Snapshot, plan: Plan, then: Json, timeout: float, say: Callable[[str], None]) -> Json:
    """Send nothing and wait until no pod is left and its GPU is back; seconds since the last request."""
    begun = time.monotonic()
    shown = ""
    while True:
        now = Snapshot(at.cluster, at.outputs)
        there = knative.of_role(at.cluster, TEST, ROLE)
        held = _allocated(now, plan, then)
        passed = time.monotonic() - begun
        line = f"{len(there)} pods, queue {plan.queue} holds {held:g} GPU for them"
        if line != shown:
            shown = line
            say(f"{TEST} +{passed:.1f} s without a request: {line}")
        if (not there and held == 0) or passed >= timeout:
            service = knative.find(at.cluster, plan.namespace, NAME) or {}
            return {
                "pods": len(there),
                "queueAllocated": held,
                "seconds": round(passed, 1),
                "ready": knative.condition(service)["status"],
            }
        time.sleep(0.5)


def cold_start(at: Snapshot, where: Ingress, url: str, earlier: str) -> Json:
    """One request to a Service without pods: held until a pod answers. `earlier` is the answer before."""
    before = knative.of_role(at.cluster, TEST, ROLE)
    seconds = float(at.outputs.validation.inference.initializationTimeoutSeconds)
    try:
        said = chat.ask(endpoint(at, where, url), PROMPTS[0], timeout=seconds)
    except https.HttpsError as error:
        return {"error": str(error)}
    after = [p for p in knative.of_role(at.cluster, TEST, ROLE) if pods.running(p)]
    known = {p["metadata"]["uid"] for p in before}
    return {
        "status": said.status,
        "podsBefore": len(before),
        "newPod": any(p["metadata"]["uid"] not in known for p in after),
        "sameText": said.text == earlier,
        "seconds": round(said.seconds, 2),
        "said": said.error,
    }


def _explained(look: Callable[[], Json]) -> Json:
    """An observation, or {error} where nobody answered."""
    try:
        return look()
    except (https.HttpsError, ClusterError) as error:
        return {"error": str(error)}


def _failed(*seen: Json) -> Json | None:
    return next(({"error": s["error"]} for s in seen if "error" in s), None)
