"""A server that speaks as much of Jupyter as V6 asks: pages, REST, one kernel over a websocket."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs

from tests.unit.validation.tls import say

Json = dict[str, Any]
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
LOGIN = b"""<title>Jupyter Server</title>
<form action="/login" method="post"><input name="password" type="password"></form>"""
LAB = b"""<title>JupyterLab</title>
<div class="jp-LauncherCard">Python 3</div><div class="jp-LauncherCard">Terminal</div>"""


class Jupyter:
    """Its manners can be spoiled: see the attributes."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.open_to_all = False
        self.stops_kernels = True
        self.lab = LAB
        self.kernels: list[str] = []
        # Messages that answer a request, each as (type, content); None: the kernel stays silent.
        self.says: list[tuple[str, Json]] | None = []
        self.asked: list[str] = []

    def respond(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        path = handler.path.partition("?")[0]
        sent = handler.headers.get("Authorization", "")
        known = self.open_to_all or sent == f"token {self.token}"
        if path == "/api":
            say(handler, 200, b'{"version": "2.21.1"}')
        elif path == "/login":
            self._login(handler, body)
        elif path == "/lab":
            self._lab(handler, known or f"login={self.token}" in handler.headers.get("Cookie", ""))
        elif not known:
            say(handler, 403, b'{"message": "Forbidden"}')
        elif path.endswith("/channels"):
            self._channels(handler)
        else:
            self._kernels(handler, path)

    def _login(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if handler.command == "GET":
            return say(handler, 200, LOGIN, "text/html")
        good = parse_qs(body.decode()).get("password") == [self.token]
        handler.send_response(302)
        handler.send_header("Location", "/lab")
        if good:
            handler.send_header("Set-Cookie", f"login={self.token}; Secure; HttpOnly")
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return None

    def _lab(self, handler: BaseHTTPRequestHandler, known: bool) -> None:
        if known:
            return say(handler, 200, self.lab, "text/html")
        handler.send_response(302)
        handler.send_header("Location", "/login?next=%2Flab")
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return None

    def _kernels(self, handler: BaseHTTPRequestHandler, path: str) -> None:
        if handler.command == "POST":
            self.kernels.append("k1")
            say(handler, 201, b'{"id": "k1"}')
        elif handler.command == "DELETE":
            if self.stops_kernels:
                self.kernels.remove(path.rpartition("/")[2])
            handler.send_response(204)
            handler.end_headers()
        else:
            say(handler, 200, json.dumps([{"id": kernel} for kernel in self.kernels]).encode())

    def _channels(self, handler: BaseHTTPRequestHandler) -> None:
        key = handler.headers["Sec-WebSocket-Key"] + GUID
        accept = base64.b64encode(hashlib.sha1(key.encode(), usedforsecurity=False).digest()).decode()
        handler.send_response(101)
        for name, value in (
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", accept),
        ):
            handler.send_header(name, value)
        handler.end_headers()
        request = json.loads(_receive(handler))
        self.asked.append(request["content"]["code"])
        other: Json = {"parent_header": {"msg_id": "of somebody else"}, "msg_type": "stream"}
        _send(handler, {**other, "content": {"text": "not mine"}})
        for kind, content in self.says or []:
            _send(handler, {"parent_header": request["header"], "msg_type": kind, "content": content})
        if self.says is not None:
            idle = {"execution_state": "idle"}
            _send(handler, {"parent_header": request["header"], "msg_type": "status", "content": idle})
        handler.rfile.read(1)
        handler.close_connection = True


def _receive(handler: BaseHTTPRequestHandler) -> bytes:
    """One masked frame of a client."""
    _, length = handler.rfile.read(2)
    size = length & 0x7F
    if size == 126:
        (size,) = struct.unpack(">H", handler.rfile.read(2))
    mask = handler.rfile.read(4)
    return bytes(byte ^ mask[i % 4] for i, byte in enumerate(handler.rfile.read(size)))


def _send(handler: BaseHTTPRequestHandler, message: Json) -> None:
    data = json.dumps(message).encode()
    size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
    handler.wfile.write(b"\x81" + size + data)
