"""Asks VCF Operations: verified TLS, a token for the time of the session, GET and nothing else.

Source of paths and shapes: the vendor's OpenAPI document (github.com/vmware/vcf-api-specs, vcf-operations
9.1), the token header also developer.broadcom.com/xapis/vcf-operations-api.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

import urllib3
from urllib3.util import Retry, Timeout

from components.answers import lost
from validation.suite_api.errors import SuiteError

Query = Sequence[tuple[str, str]]
Json = dict[str, Any]
BASE = "/suite-api/api"
# It may be busy at any time; nothing was done then.
_AGAIN = (429, 502, 503, 504)


@dataclass(frozen=True)
class Access:
    """`url` without a path; `ca` is PEM text, empty for the public CAs; no repr shows the password."""

    url: str
    username: str
    password: str = field(repr=False)
    source: str = "LOCAL"
    ca: str = ""


class SuiteApi:
    """A session: the token is acquired on entering and released on leaving. Raises SuiteError."""

    def __init__(self, access: Access, timeout: float = 30, page: int = 200, pause: float = 0.5) -> None:
        """`timeout` in seconds for an answer; `page` is how many objects are asked for at a time."""
        if not access.url.startswith("https://"):
            raise SuiteError(
                "vcfOperations.url", access.url, "an https address", "never send a password in clear"
            )
        self._access, self._page, self._timeout = access, page, timeout
        try:
            context = ssl.create_default_context(cadata=access.ca or None)
        except ssl.SSLError:
            raise SuiteError(
                "vcfOperations.ca", "no certificate", "the CA's certificate in PEM", "correct the file"
            ) from None
        self._pool = urllib3.PoolManager(
            ssl_context=context,
            timeout=Timeout(connect=5, read=timeout),
            headers={"Accept": "application/json", "Content-Type": "application/json"},
            retries=Retry(
                total=3, redirect=0, allowed_methods={"GET"}, status_forcelist=_AGAIN, backoff_factor=pause,
                backoff_max=10, retry_after_max=10, raise_on_status=False,
            ),
        )  # fmt: skip
        self._token = ""

    def __enter__(self) -> Self:
        body = {
            "username": self._access.username,
            "password": self._access.password,
            "authSource": self._access.source,
        }
        answer = self._send("POST", "/auth/token/acquire", body=body)
        token = answer.get("token") if isinstance(answer, dict) else None
        if not isinstance(token, str) or not token:
            raise self._odd("POST", "/auth/token/acquire", "token")
        self._token = token
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._send("POST", "/auth/token/release")
        except SuiteError:
            # It ends by itself after six hours; what went wrong before is the better message.
            if kind is None:
                raise
        finally:
            self._token = ""

    def get(self, path: str, query: Query = ()) -> Json:
        """The object at a path below the API's base."""
        answer = self._send("GET", path, query)
        if not isinstance(answer, dict):
            raise self._odd("GET", path, "an object")
        return answer

    def pages(self, path: str, key: str, query: Query = ()) -> Iterator[Json]:
        """Every item of a list that comes in pages, counted from 0, with `pageInfo.totalCount`."""
        page = seen = 0
        while True:
            place = [*query, ("page", str(page)), ("pageSize", str(self._page))]
            answer = self.get(path, place)
            items = answer.get(key)
            if not isinstance(items, list):
                raise self._odd("GET", path, f"list {key}")
            yield from items
            seen += len(items)
            if not items or seen >= int((answer.get("pageInfo") or {}).get("totalCount", seen)):
                return
            page += 1

    def _send(self, method: str, path: str, query: Query = (), body: Json | None = None) -> Any:
        subject = f"{method} {self._access.url}{BASE}{path}"
        url = f"{self._access.url}{BASE}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = dict(self._pool.headers)
        if self._token:
            headers["Authorization"] = f"OpsToken {self._token}"
        data = json.dumps(body) if body is not None else None
        try:
            answer = self._pool.request(method, url, body=data, headers=headers, redirect=False)
        except urllib3.exceptions.HTTPError as error:
            raise self._lost(subject, error) from None
        if answer.status >= 300:
            raise self._refused(subject, answer)
        if not answer.data:
            return None
        try:
            return json.loads(answer.data)
        except ValueError:
            raise SuiteError(
                subject,
                f"{answer.status} with a body that is no JSON",
                "JSON",
                "check that vcfOperations.url is VCF Operations and no proxy answers in its place",
            ) from None

    def _lost(self, subject: str, error: urllib3.exceptions.HTTPError) -> SuiteError:
        why = lost(error)
        if why.untrusted:
            return SuiteError(
                subject,
                f"a certificate that is not trusted ({why.text})",
                "one that the given CA signed for this name",
                "set runai-kit:vcfOperations.ca to the CA's file, or correct the name in the URL",
            )
        return SuiteError(
            subject,
            f"no answer ({why.text})",
            f"one within {self._timeout:g} s",
            "check the address and that the network lets this host through",
        )

    def _refused(self, subject: str, answer: urllib3.BaseHTTPResponse) -> SuiteError:
        found = f"{answer.status} {_message(answer.data)}".strip()
        if answer.status == 401:
            who = f"user {self._access.username} of source {self._access.source}"
            return SuiteError(subject, found, f"a valid password of {who}", "check user, password and source")
        if answer.status == 403:
            return SuiteError(
                subject, found, "a role that may read inventory and metrics", "give the user such a role"
            )
        return SuiteError(subject, found, "an answer", "look at VCF Operations' health, then run again")

    def _odd(self, method: str, path: str, what: str) -> SuiteError:
        return SuiteError(
            f"{method} {self._access.url}{BASE}{path}",
            "an answer of another shape",
            what,
            "compare with the API document of this version",
        )


def _message(data: bytes) -> str:
    """The API's `message`, never a whole page."""
    try:
        told = json.loads(data)
    except ValueError:
        return ""
    return str(told.get("message", ""))[:300] if isinstance(told, dict) else ""
