"""An OpenAI API as a client sees it: models, answers, streams. Every request goes through the ingress."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from validation import https
from validation.ingress import Ingress

Json = dict[str, Any]
MODELS = "/v1/models"
CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class Endpoint:
    """A server: ingress, base URL without a slash at its end, model, most tokens per answer."""

    where: Ingress
    url: str
    model: str
    max_tokens: int
    timeout: float = 60.0

    def body(self, prompt: str, **more: Any) -> Json:
        """A question; temperature 0 makes answers repeatable."""
        asked = [{"role": "user", "content": prompt}]
        base: Json = {"model": self.model, "messages": asked, "max_tokens": self.max_tokens, "temperature": 0}
        return {**base, **more}


@dataclass(frozen=True)
class Said:
    """An answer to one prompt; tokens are what `usage` counts."""

    status: int
    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    error: str = ""


def models(at: Endpoint) -> Json:
    """{status, models}."""
    got = https.request(at.where, at.url + MODELS, timeout=at.timeout)
    listed = got.json().get("data", []) if got.status == 200 else []
    return {"status": got.status, "models": [entry.get("id") for entry in listed]}


def ask(at: Endpoint, prompt: str, timeout: float | None = None) -> Said:
    """One question, one whole answer."""
    got = https.request(at.where, at.url + CHAT, "POST", body=at.body(prompt), timeout=timeout or at.timeout)
    if got.status != 200:
        return Said(got.status, "", 0, 0, got.seconds, got.text[:300])
    data = got.json()
    try:
        text = data["choices"][0]["message"]["content"] or ""
        usage = data["usage"]
        counts = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    except (KeyError, IndexError, TypeError, ValueError):
        raise https.HttpsError(f"no chat completion: {got.text[:200]!r}") from None
    return Said(got.status, str(text), *counts, got.seconds)


def stream(at: Endpoint, prompt: str) -> Json:
    """{status, text, pieces, arrivals, finished, done}: pieces with text, moments at which some arrived."""
    got = https.stream(at.where, at.url + CHAT, at.body(prompt, stream=True), timeout=at.timeout)
    done = bool(got.items) and got.items[-1][1] == "[DONE]"
    text, reasons, moments = "", [], []
    pieces = 0
    for seconds, data in got.items:
        if data == "[DONE]":
            continue
        try:
            choices = json.loads(data).get("choices") or []
        except (ValueError, AttributeError):
            raise https.HttpsError(f"no event of a chat completion: {data[:200]!r}") from None
        for choice in choices:
            if piece := (choice.get("delta") or {}).get("content"):
                text += piece
                pieces += 1
                moments.append(seconds)
            if choice.get("finish_reason"):
                reasons.append(choice["finish_reason"])
    return {
        "status": got.status,
        "text": text,
        "pieces": pieces,
        # Pieces that came within a millisecond came together.
        "arrivals": len({round(moment, 3) for moment in moments}),
        "firstSeconds": round(moments[0], 3) if moments else None,
        "lastSeconds": round(moments[-1], 3) if moments else None,
        "finished": len(reasons) == 1 and reasons[0] in ("stop", "length"),
        "done": done,
        "body": got.body[:300],
    }


def unknown_model(at: Endpoint, name: str) -> Json:
    """{status, namesModel, said} of a question to a model that is not served."""
    body = at.body("Hello", model=name)
    got = https.request(at.where, at.url + CHAT, "POST", body=body, timeout=at.timeout)
    return {"status": got.status, "namesModel": name in got.text, "said": got.text[:300]}


@dataclass(frozen=True)
class Load:
    """A burst of questions: seconds per answered one with the second it began at; faults by text."""

    sent: int
    seconds: float
    times: list[tuple[float, float]]
    tokens: int
    errors: dict[str, int] = field(default_factory=dict)

    def summary(self) -> Json:
        """What the report tells; latencies in seconds, rates per second."""
        latencies = [taken for _, taken in self.times]
        return {
            "sent": self.sent,
            "ok": len(latencies),
            "errors": self.errors,
            "p50Seconds": percentile(latencies, 50),
            "p95Seconds": percentile(latencies, 95),
            "maxSeconds": round(max(latencies, default=0.0), 3),
            "requestsPerSecond": round(len(latencies) / self.seconds, 2) if self.seconds else 0.0,
            "tokensPerSecond": round(self.tokens / self.seconds, 1) if self.seconds else 0.0,
            "seconds": round(self.seconds, 2),
        }


def load(at: Endpoint, requests: int, concurrency: int) -> Load:
    """`requests` different questions, `concurrency` at a time; a fault ends nothing."""
    begun = time.monotonic()

    def one(number: int) -> tuple[float, Said | str]:
        start = time.monotonic() - begun
        try:
            return start, ask(at, f"Question {number}: how many GPUs has node {number}?")
        except https.HttpsError as error:
            return start, str(error)

    with ThreadPoolExecutor(max_workers=concurrency) as workers:
        answers = list(workers.map(one, range(1, requests + 1)))
    passed = time.monotonic() - begun
    errors: dict[str, int] = {}
    times: list[tuple[float, float]] = []
    tokens = 0
    for start, said in answers:
        if isinstance(said, Said) and said.status == 200 and said.text:
            times.append((round(start, 3), round(said.seconds, 3)))
            tokens += said.completion_tokens
        else:
            text = said if isinstance(said, str) else f"status {said.status} {said.error}".strip()
            errors[text[:200]] = errors.get(text[:200], 0) + 1
    return Load(requests, passed, times, tokens, errors)


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The smallest value that so many per cent do not exceed (nearest rank); None without values."""
    if not values:
        return None
    ordered = sorted(values)
    return round(ordered[max(1, math.ceil(len(ordered) * percent / 100)) - 1], 3)
