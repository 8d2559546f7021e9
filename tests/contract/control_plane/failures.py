"""Errors as the API tells them, and failures on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response


class FailureError(Exception):
    """Answered with this status and the API's Error."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message


@dataclass
class Fault:
    """The next `times` requests with this method and a path that starts so; `status` 0 answers as usual."""

    method: str
    path: str
    times: int = 1
    status: int = 0
    delay: float = 0
    retry_after: int | None = None
    page: str = ""


@dataclass
class Told:
    """One answered request; bodies as JSON, None without one."""

    method: str
    path: str
    status: int
    request: Any
    answer: Any


@dataclass
class Journal:
    """Faults to come, and what was asked and answered."""

    faults: list[Fault] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)

    def next_fault(self, method: str, path: str) -> Fault | None:
        """The fault that this request meets, used up once more."""
        for fault in self.faults:
            if fault.times > 0 and fault.method == method and path.startswith(fault.path):
                fault.times -= 1
                return fault
        return None


def error(status: int, message: str) -> JSONResponse:
    """The API's Error."""
    return JSONResponse({"code": status, "message": message}, status)


def install(app: FastAPI, journal: Journal) -> None:
    """Failures become answers; faults come before everything else."""

    @app.exception_handler(FailureError)
    async def failed(_: Request, failure: FailureError) -> Response:
        return error(failure.status, failure.message)

    @app.exception_handler(RequestValidationError)
    async def wrong(_: Request, failure: RequestValidationError) -> Response:
        place = ".".join(str(part) for part in failure.errors()[0]["loc"])
        return error(400, f"Bad request - {place}: {failure.errors()[0]['msg']}")

    @app.middleware("http")
    async def faulty(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        fault = journal.next_fault(request.method, request.url.path)
        if fault is None:
            return await call(request)
        if not fault.status and not fault.page:
            # Done, but the answer comes late.
            late = await call(request)
            await asyncio.sleep(fault.delay)
            return late
        await asyncio.sleep(fault.delay)
        if fault.page:
            return PlainTextResponse(fault.page, 200)
        answer = error(fault.status, "on demand")
        if fault.retry_after is not None:
            answer.headers["Retry-After"] = str(fault.retry_after)
        return answer
