"""HTTPS requests through the ingress: to its address, by the name in the URL, chain and name verified.

DNS is not asked: the name goes into SNI and the Host header, the connection goes to the ingress.
"""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import urllib3

from validation.ingress import Ingress

Json = dict[str, Any]
CONNECT_SECONDS = 5.0


class HttpsError(RuntimeError):
    """No answer: refused, timed out, broken off; the text names URL and address."""


class CertificateError(HttpsError):
    """The server's certificate was not accepted: chain, name or dates."""


@dataclass(frozen=True)
class Answer:
    """What came back; header names are in lower case, seconds are from the request to the last byte."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON; HttpsError shows its begin when it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise HttpsError(
                f"status {self.status} with a body that is no JSON: {self.text[:200]!r}"
            ) from None


@dataclass(frozen=True)
class Events:
    """A stream of server-sent events: (seconds since the request, data) in order of arrival."""

    status: int
    headers: dict[str, str]
    items: list[tuple[float, str]] = field(default_factory=list)
    # What came instead of a stream.
    body: str = ""


@dataclass(frozen=True)
class Peer:
    """Certificate and protocol of a connection that was verified."""

    protocol: str
    names: list[str]
    issuer: str
    not_after: str


def request(
    ingress: Ingress,
    url: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | Json | None = None,
    timeout: float = 30.0,
) -> Answer:
    """One request, neither repeated nor redirected; a dict as body is sent as JSON.

    Any status is an answer. HttpsError when there is none within `timeout` seconds of silence,
    CertificateError when the server cannot prove its name.
    """
    begun = time.monotonic()
    with _sent(ingress, url, method, headers, body, timeout) as response:
        data = response.read(decode_content=True)
        return Answer(response.status, _lower(response), data, time.monotonic() - begun)


def stream(
    ingress: Ingress,
    url: str,
    body: Json,
    headers: Mapping[str, str] | None = None,
    timeout: float = 30.0,
    limit: float = 300.0,
) -> Events:
    """POST and read server-sent events until the server ends the stream, at most `limit` seconds."""
    begun = time.monotonic()
    accept = {"Accept": "text/event-stream", **(headers or {})}
    with _sent(ingress, url, "POST", accept, body, timeout) as response:
        got = Events(response.status, _lower(response))
        if "text/event-stream" not in got.headers.get("content-type", ""):
            return Events(got.status, got.headers, [], response.read(4096).decode("utf-8", "replace"))
        for data in _events(response):
            passed = time.monotonic() - begun
            got.items.append((passed, data))
            if passed > limit:
                raise HttpsError(f"{url}: the stream did not end within {limit:g} s")
        return got


def peer(ingress: Ingress, host: str) -> Peer:
    """Shake hands as `host` and tell what the server showed; CertificateError as for requests."""
    context = ingress.context()
    with (
        _explained(f"https://{host}", ingress),
        socket.create_connection((ingress.address, ingress.port), CONNECT_SECONDS) as raw,
        context.wrap_socket(raw, server_hostname=host) as shown,
    ):
        certificate: Any = shown.getpeercert()
        issuer = ", ".join(value for entry in certificate["issuer"] for _, value in entry)
        covered = [value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS"]
        return Peer(shown.version() or "", covered, issuer, certificate["notAfter"])


def host_of(url: str) -> str:
    """Host of an https URL; HttpsError for another scheme, which would not be protected."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise HttpsError(f"URL {url!r}: expected https://<host>/…")
    return parts.hostname


@contextmanager
def _sent(
    ingress: Ingress,
    url: str,
    method: str,
    headers: Mapping[str, str] | None,
    body: bytes | Json | None,
    timeout: float,
) -> Iterator[urllib3.BaseHTTPResponse]:
    parts = urlsplit(url)
    given = {"Host": parts.netloc, **(headers or {})}
    data = body
    if isinstance(body, dict):
        data = json.dumps(body).encode()
        given = {"Content-Type": "application/json", **given}
    pool = _pool(ingress, host_of(url), timeout)
    try:
        with _explained(url, ingress):
            response = pool.urlopen(
                method,
                (parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
                body=data,
                headers=given,
                preload_content=False,
                redirect=False,
                retries=False,
            )
            yield response
    finally:
        pool.close()


def _pool(ingress: Ingress, host: str, timeout: float) -> urllib3.HTTPSConnectionPool:
    return urllib3.HTTPSConnectionPool(
        ingress.address,
        ingress.port,
        timeout=urllib3.Timeout(connect=min(CONNECT_SECONDS, timeout), read=timeout),
        maxsize=1,
        server_hostname=host,
        ssl_context=ingress.context(),
        cert_reqs="CERT_REQUIRED",
    )


@contextmanager
def _explained(url: str, ingress: Ingress) -> Iterator[None]:
    where = f"{url} by way of {ingress.address}:{ingress.port}"
    try:
        yield
    except (urllib3.exceptions.SSLError, ssl.SSLError) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error) or "certificate" in str(error).lower():
            raise CertificateError(f"{where}: the certificate was not accepted: {error}") from None
        raise HttpsError(f"{where}: TLS failed: {error}") from None
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise HttpsError(f"{where}: no answer: {error}") from None


def _lower(response: urllib3.BaseHTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _events(response: urllib3.BaseHTTPResponse) -> Iterator[str]:
    """Data of each event; events are parted by empty lines, data lines of one event are joined."""
    buffer, lines = b"", list[str]()
    while piece := response.read1(65536):
        buffer += piece
        *complete, buffer = buffer.split(b"\n")
        for raw in complete:
            line = raw.decode("utf-8", "replace").rstrip("\r")
            if line.startswith("data:"):
                lines.append(line.removeprefix("data:").removeprefix(" "))
            elif not line and lines:
                yield "\n".join(lines)
                lines = []
    if lines:
        yield "\n".join(lines)
