"""A small server that speaks OpenAI's API well or badly, for what talks to one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.unit.validation.tls import say

Json = dict[str, Any]
MODEL = "/models/tiny-chat"


def words(prompt: str) -> str:
    """An answer that depends on the question."""
    return " ".join(reversed(prompt.split()))


@dataclass
class Model:
    """How the server behaves; `faults` are statuses of the first requests."""

    answer: Callable[[str], str] = words
    count: Callable[[str], int] = lambda prompt: len(prompt.split())
    done: bool = False
    checks_model: bool = True
    split: bool = True
    faults: list[int] = field(default_factory=list)

    def __call__(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if self.faults:
            say(handler, self.faults.pop(0), b"no healthy upstream", "text/plain")
        elif handler.path == "/v1/models":
            say(handler, 200, json.dumps({"object": "list", "data": [{"id": MODEL}]}).encode())
        elif handler.path == "/v1/chat/completions":
            self.chat(handler, json.loads(body))
        else:
            say(handler, 404, b"{}")

    def chat(self, handler: BaseHTTPRequestHandler, asked: Json) -> None:
        if self.checks_model and asked["model"] != MODEL:
            detail = f"Server is pinned to '{MODEL}'; requested '{asked['model']}'."
            say(handler, 400, json.dumps({"detail": detail}).encode())
            return
        prompt = asked["messages"][0]["content"]
        text = self.answer(prompt)
        usage = {"prompt_tokens": self.count(prompt), "completion_tokens": len(text.split())}
        if asked.get("stream"):
            self.stream(handler, text, usage)
            return
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        say(handler, 200, json.dumps({"choices": [choice], "usage": usage}).encode())

    def stream(self, handler: BaseHTTPRequestHandler, text: str, usage: Json) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        events: list[Json] = [{"choices": [{"delta": {"role": "assistant"}}]}]
        pieces = [f"{word} " for word in text.split()] if self.split else [text]
        pieces[-1] = pieces[-1].rstrip()
        events += [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
        events.append({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage})
        lines = [json.dumps(event) for event in events] + (["[DONE]"] if self.done else [])
        for line in lines:
            handler.wfile.write(f"data: {line}\n\n".encode())
            handler.wfile.flush()
            time.sleep(0.05)
        handler.close_connection = True
