"""HTTP to the control plane: verified TLS, bounded retries, answers as JSON, failures as typed errors."""

from __future__ import annotations

import json
import ssl
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import urllib3
from urllib3.util import Retry, Timeout

from components.answers import lost
from components.runai.access import Access
from components.runai.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    MalformedError,
    NotFoundError,
    RefusedError,
    UnauthorizedError,
    UnavailableError,
    UnreachableError,
    UntrustedError,
)

Query = Sequence[tuple[str, str]]
# The server did nothing yet when it says one of these.
_UNTOUCHED = (429, 503)
# A gateway says the other two, also of a request that the server behind it carries out.
_AGAIN = (*_UNTOUCHED, 502, 504)


@dataclass(frozen=True)
class Patience:
    """Seconds for connecting and for an answer; how often to ask again, and how long to wait before that."""

    connect: float = 5
    read: float = 30
    retries: int = 5
    pause: float = 0.5
    longest_pause: int = 20


class Transport:
    """One control plane over one pool of connections."""

    def __init__(self, access: Access, patience: Patience | None = None) -> None:
        self._url = access.url.rstrip("/")
        self._patience = patience or Patience()
        try:
            context = ssl.create_default_context(cadata=access.ca or None)
        except ssl.SSLError:
            raise UntrustedError(
                "controlPlane.ca", "no certificate", "the CA's certificate in PEM", "correct the file"
            ) from None
        self._pool = urllib3.PoolManager(
            ssl_context=context,
            timeout=Timeout(connect=self._patience.connect, read=self._patience.read),
            headers={"Accept": "application/json", "User-Agent": "runai-kit"},
        )

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: object = None,
        form: Mapping[str, str] | None = None,
        token: str = "",
        makes: bool = True,
    ) -> Any:
        """The answer's JSON, None without a body. Raises ApiError's kinds.

        A POST is never sent again after a lost answer, nor after a gateway's 502 or 504: the server may have
        done it. One that `makes` nothing (for a token) may be, after those two.
        """
        again = _UNTOUCHED if method == "POST" and makes else _AGAIN
        subject = f"{method} {self._url}{path}"
        headers = dict(self._pool.headers)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data: str | None = None
        if form is not None:
            headers["Content-Type"], data = "application/x-www-form-urlencoded", urlencode(form)
        elif body is not None:
            headers["Content-Type"], data = "application/json", json.dumps(body)
        url = f"{self._url}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            answer = self._pool.request(
                method, url, body=data, headers=headers, retries=self._retries(method, again), redirect=False
            )
        except urllib3.exceptions.HTTPError as error:
            raise self._lost(subject, error) from None
        if answer.status >= 300:
            tries = self._patience.retries if answer.status in again else 0
            unsure = method == "POST" and not tries
            raise _refusal(subject, answer.status, _message(answer.data), tries, unsure)
        if not answer.data:
            return None
        try:
            return json.loads(answer.data)
        except ValueError:
            raise MalformedError(
                subject,
                f"{answer.status} with a body that is no JSON",
                "JSON",
                "check that the address is the control plane's and no proxy answers in its place",
            ) from None

    def _retries(self, method: str, statuses: Collection[int]) -> Retry:
        patience = self._patience
        return Retry(
            total=patience.retries,
            read=0 if method == "POST" else patience.retries,
            redirect=0,
            status=patience.retries,
            other=0,
            allowed_methods=None,
            status_forcelist=statuses,
            backoff_factor=patience.pause,
            backoff_max=patience.longest_pause,
            retry_after_max=patience.longest_pause,
            raise_on_status=False,
        )

    def _lost(self, subject: str, error: urllib3.exceptions.HTTPError) -> ApiError:
        why = lost(error)
        if why.untrusted:
            return UntrustedError(
                subject,
                f"a certificate that is not trusted ({why.text})",
                "one that the given CA signed for this name",
                "set runai-kit:controlPlane.ca to the CA's file, or have the certificate reissued",
            )
        return UnreachableError(
            subject,
            f"no answer ({why.text})",
            f"one within {self._patience.read:g} s",
            "check the domain's DNS entry, the ingress and that the control plane's pods run",
        )


def _message(data: bytes) -> str:
    """The `message` and `details` of the API's Error, or the OAuth error; never a whole page."""
    try:
        told = json.loads(data)
    except ValueError:
        return ""
    if not isinstance(told, dict):
        return ""
    parts = [told.get(key) for key in ("message", "details", "error_description", "error")]
    return "; ".join(str(part) for part in parts if part)[:300]


def _refusal(subject: str, status: int, message: str, tries: int, unsure: bool) -> ApiError:
    """The error for a status; `tries`: how often it was sent again; `unsure`: a 5xx may have been done."""
    found = f"{status} {message}".strip()
    if status == 401:
        return UnauthorizedError(
            subject, found, "valid credentials", "check the user or service account and its secret"
        )
    if status == 403:
        return ForbiddenError(
            subject, found, "a role that allows this", "give the account an access rule with such a role"
        )
    if status == 404:
        return NotFoundError(subject, found, "an object with this id", "it may have been deleted by hand")
    if status == 409:
        return ConflictError(
            subject, found, "a free name, or an object nothing uses", "rename it, or remove what uses it"
        )
    if status in _AGAIN or status >= 500:
        waited = f"an answer after {tries} more tries" if tries else "an answer"
        done = " and whether it was done all the same" if unsure else ""
        return UnavailableError(
            subject, found, waited, f"look at the control plane's pods{done}, then run again"
        )
    return RefusedError(subject, found, "a request the API takes", "check the values named in the message")
