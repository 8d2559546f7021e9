"""Requests with a token that is renewed in time, and lists that come in pages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from components.runai.access import Access
from components.runai.errors import MalformedError, UnauthorizedError
from components.runai.transport import Patience, Query, Transport

_TOKEN = "/api/v2/token"  # noqa: S105 (a path, not a secret)
_PAGE = 100
Json = dict[str, Any]


class Client:
    """A control plane, asked as `access` says; safe to share between threads. Raises ApiError's kinds."""

    def __init__(
        self,
        access: Access,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.access = access
        self._transport = Transport(access, patience)
        self._clock = clock
        self._lock = threading.Lock()
        self._token, self._until = "", 0.0

    def get(self, path: str, query: Query = ()) -> Any:
        """The object or list at `path`."""
        return self._send("GET", path, query=query)

    def post(self, path: str, body: object = None) -> Any:
        """What the server made of `body`."""
        return self._send("POST", path, body=body)

    def put(self, path: str, body: object) -> Any:
        """The object after the change."""
        return self._send("PUT", path, body=body)

    def patch(self, path: str, body: object) -> Any:
        """The answer to a change of some fields."""
        return self._send("PATCH", path, body=body)

    def delete(self, path: str) -> None:
        """Ask for the object's removal; it may take the server time (202)."""
        self._send("DELETE", path)

    def pages(self, path: str, key: str, query: Query = ()) -> Iterator[Json]:
        """Every item of a list that is told in pages below `key`.

        Servers may give fewer items than asked for: `next` is where to go on; where they tell none, the
        list ends with an empty page.
        """
        offset = 0
        while True:
            place = [*query, ("offset", str(offset)), ("limit", str(_PAGE))]
            page = self.get(path, place)
            items = page.get(key) if isinstance(page, dict) else None
            if not isinstance(items, list):
                raise MalformedError(
                    f"GET {path}", "an answer without " + key, f"a list {key}", "compare the API's version"
                )
            yield from items
            following = page.get("next")
            if not items or ("next" in page and not following):
                return
            offset = max(int(following), offset + 1) if following else offset + len(items)

    def _send(self, method: str, path: str, *, query: Query = (), body: object = None) -> Any:
        token = self._valid()
        try:
            return self._transport.send(method, path, query=query, body=body, token=token)
        except UnauthorizedError:
            # Revoked or expired early; a second refusal is about the account.
            self._forget(token)
            return self._transport.send(method, path, query=query, body=body, token=self._valid())

    def _valid(self) -> str:
        with self._lock:
            if not self._token or self._clock() >= self._until:
                self._renew()
            return self._token

    def _forget(self, token: str) -> None:
        with self._lock:
            if self._token == token:
                self._token = ""

    def _renew(self) -> None:
        asked = self._clock()
        told = self._transport.send("POST", _TOKEN, form=self.access.grant(), makes=False)
        if not isinstance(told, dict) or not isinstance(told.get("access_token"), str):
            raise MalformedError(
                f"POST {_TOKEN}", "an answer without access_token", "a token", "compare the API's version"
            )
        lasts = float(told.get("expires_in") or 60)
        self._token = told["access_token"]
        # A tenth early: clocks differ, and a request takes time.
        self._until = asked + lasts * 0.9
