"""A Jupyter server from outside: its REST interface, and kernels over their websocket."""

from __future__ import annotations

import json
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import websocket

from validation import https
from validation.https import Answer, HttpsError
from validation.ingress import Ingress

Json = dict[str, Any]


@dataclass(frozen=True)
class Output:
    """What a cell printed, and the error that ended it ("" without one)."""

    text: str
    error: str


@dataclass(frozen=True)
class Notebook:
    """A server at https://<host>/ behind an ingress; without a token requests are anonymous."""

    ingress: Ingress
    host: str
    token: str = ""

    def request(
        self, path: str, method: str = "GET", body: Json | None = None, timeout: float = 30
    ) -> Answer:
        """One request; any status is an answer."""
        return https.request(
            self.ingress, f"https://{self.host}{path}", method, self._headers(), body, timeout
        )

    def start_kernel(self, name: str = "python3") -> str:
        """Id of a new kernel; HttpsError with the server's words when it starts none."""
        answer = self.request("/api/kernels", "POST", {"name": name}, timeout=60)
        if answer.status != 201:
            raise HttpsError(
                f"kernel {name!r}: expected status 201, found {answer.status}: {answer.text[:200]}"
            )
        return str(answer.json()["id"])

    def kernels(self) -> list[str]:
        """Ids of the running kernels."""
        return [str(kernel["id"]) for kernel in self.request("/api/kernels").json()]

    def stop_kernel(self, kernel: str) -> int:
        """Status of the request that ends a kernel."""
        return self.request(f"/api/kernels/{kernel}", "DELETE", timeout=60).status

    def run(self, kernel: str, code: str, timeout: float = 60) -> Output:
        """Run a cell and wait until the kernel is idle again; HttpsError when it is not in time."""
        session = uuid.uuid4().hex
        message = _execute_request(code, session)
        with self._channels(kernel, session, timeout) as channels:
            channels.send(json.dumps(message))
            return _collect(channels, message["header"]["msg_id"], time.monotonic() + timeout)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"token {self.token}"} if self.token else {}

    @contextmanager
    def _channels(self, kernel: str, session: str, timeout: float) -> Iterator[websocket.WebSocket]:
        """The kernel's websocket, over a connection whose certificate was verified for the host."""
        url = f"wss://{self.host}/api/kernels/{kernel}/channels?session_id={session}"
        try:
            raw = socket.create_connection((self.ingress.address, self.ingress.port), https.CONNECT_SECONDS)
            wrapped = self.ingress.context().wrap_socket(raw, server_hostname=self.host)
            wrapped.settimeout(timeout)
            channels = websocket.create_connection(
                url, timeout=timeout, socket=wrapped, header=self._headers(), suppress_origin=True
            )
        except (OSError, websocket.WebSocketException) as error:
            raise HttpsError(f"{url}: no websocket: {error}") from None
        try:
            yield channels
        except (OSError, websocket.WebSocketException) as error:
            raise HttpsError(f"{url}: the websocket broke off: {error}") from None
        finally:
            channels.close()


def _execute_request(code: str, session: str) -> Json:
    header = {
        "msg_id": uuid.uuid4().hex,
        "msg_type": "execute_request",
        "session": session,
        "username": "",
        "version": "5.3",
    }
    content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False}
    return {
        "channel": "shell",
        "header": header,
        "parent_header": {},
        "metadata": {},
        "content": content,
        "buffers": [],
    }


def _collect(channels: websocket.WebSocket, request: str, deadline: float) -> Output:
    """Everything that answers the request, until the kernel says that it is idle."""
    text, error = "", ""
    while time.monotonic() < deadline:
        message = json.loads(channels.recv())
        if message.get("parent_header", {}).get("msg_id") != request:
            continue
        content = message["content"]
        match message["msg_type"]:
            case "stream":
                text += content["text"]
            case "error":
                error = f"{content['ename']}: {content['evalue']}"
            case "status" if content["execution_state"] == "idle":
                return Output(text, error)
    raise HttpsError("the kernel was not idle in time")
