"""Writes down every request and answer, so that tests can hold them against the OpenAPI document."""

from __future__ import annotations

import json
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.contract.control_plane.failures import Journal, Told


class Recorder:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, journal: Journal) -> None:
        self._app, self._journal = app, journal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/_double"):
            await self._app(scope, receive, send)
            return
        asked, answered, status = b"", b"", 0

        async def listen() -> Message:
            nonlocal asked
            message = await receive()
            asked += message.get("body", b"")
            return message

        async def tell(message: Message) -> None:
            nonlocal answered, status
            if message["type"] == "http.response.start":
                status = message["status"]
            answered += message.get("body", b"")
            if message["type"] == "http.response.body" and not message.get("more_body"):
                # Before the client can see the end of the answer.
                told = Told(scope["method"], scope["path"], status, _parsed(asked), _parsed(answered))
                self._journal.told.append(told)
            await send(message)

        await self._app(scope, listen, tell)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode(errors="replace")
