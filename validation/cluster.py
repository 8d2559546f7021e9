"""A thin, typed way to a cluster's API: paths in, plain JSON out.

The official client brings the kubeconfig, credentials and the exec protocol; its thousand model classes are
not used, because the suite compares JSON and most of what it reads are custom resources.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3
from kubernetes import client
from kubernetes.client.exceptions import ApiException
from kubernetes.client.rest import should_bypass_proxies
from kubernetes.config.config_exception import ConfigException
from kubernetes.stream import stream

from components import credentials

Json = dict[str, Any]


class ClusterError(RuntimeError):
    """The API server refused or could not be reached; `status` is the HTTP code, 0 without an answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Cluster:
    """One cluster, addressed by kubeconfig and context; the ambient context is never used."""

    def __init__(self, kubeconfig: str, context: str, timeout: float = 30.0) -> None:
        if not context:
            raise ClusterError("no context given: stack output 'context' is empty; set it in the stack file")
        self.context = context
        self.timeout = timeout
        try:
            self._settings, self._tls = credentials.load(kubeconfig, context)
        except (ConfigException, OSError, ValueError) as error:
            where = kubeconfig or "the default kubeconfig"
            raise ClusterError(f"context {context!r} cannot be read from {where}: {error}") from None
        self._kubeconfig = kubeconfig
        self._http = _pool(self._settings, self._tls, context)

    def get(self, path: str, **params: Any) -> Json:
        """One object or list; ClusterError with status 404 when there is none."""
        return self._json("GET", path, params)

    def find(self, path: str, **params: Any) -> Json | None:
        """Like get, None for what does not exist (also for a kind that is not served)."""
        try:
            return self.get(path, **params)
        except ClusterError as error:
            if error.status == 404:
                return None
            raise

    def items(self, path: str, **params: Any) -> list[Json]:
        """Items of a list; empty where the kind is not served."""
        found = self.find(path, **params)
        return list(found.get("items", [])) if found else []

    def metadata(self, path: str, **params: Any) -> list[Json]:
        """Metadata of a list's items, without the contents (of Secrets, for one)."""
        accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        found: Json = json.loads(self._call("GET", path, params, accept=accept).data)
        return [item["metadata"] for item in found["items"] or []]

    def text(self, path: str, **params: Any) -> str:
        """Body as text (logs, metrics through the API server's proxy)."""
        body: bytes = self._call("GET", path, params).data
        return body.decode("utf-8", "replace")

    def create(self, path: str, body: Json, dry_run: bool = False) -> Json:
        """Create, or with dry_run let admission answer without storing anything."""
        return self._json("POST", path, {"dryRun": "All"} if dry_run else {}, body)

    def patch(self, path: str, change: Json) -> Json:
        """Merge `change` into an object; None removes a key."""
        data: Json = json.loads(
            self._call("PATCH", path, {}, change, content_type="application/merge-patch+json").data
        )
        return data

    def withdraw(self, path: str, thing: Json, manager: str) -> None:
        """Take back what a field manager applied to an object: what nobody else stated goes.

        `thing`: apiVersion, kind and metadata with the name, as server-side apply wants them.
        """
        query = {"fieldManager": manager, "force": "true"}
        self._call("PATCH", path, query, thing, content_type="application/apply-patch+yaml")

    def delete(self, path: str, grace_seconds: int | None = None) -> bool:
        """Delete with background propagation; False when it was not there."""
        options: Json = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        try:
            self._json("DELETE", path, {}, options)
        except ClusterError as error:
            if error.status == 404:
                return False
            raise
        return True

    def certificate(self) -> bytes:
        """The certificate (DER) that the API server shows, verified against the kubeconfig's CA."""
        settings: Any = self._settings
        address = urlsplit(settings.host)
        proxy = _proxy(settings)
        if address.scheme != "https" or proxy:
            how = "by a proxy" if proxy else f"at {settings.host}"
            raise ClusterError(f"context {self.context!r} is reached {how}: its certificate is not seen")
        name = getattr(settings, "tls_server_name", None) or address.hostname
        try:
            with (
                socket.create_connection((address.hostname, address.port or 443), self.timeout) as plain,
                self._tls.wrap_socket(plain, server_hostname=name) as secured,
            ):
                return secured.getpeercert(binary_form=True) or b""
        except OSError as error:
            raise ClusterError(f"API server of context {self.context!r}: {error}") from None

    def watch(self, path: str, seconds: float, **params: Any) -> Iterator[tuple[str, Json]]:
        """(event type, object) pairs until the server closes the watch after `seconds`.

        ClusterError when it cannot be begun, or breaks off before.
        """
        query = {**params, "watch": "true", "timeoutSeconds": max(1, int(seconds))}
        response = self._call("GET", path, query, timeout=seconds + 10)
        buffer = b""
        try:
            for chunk in response.stream(amt=None, decode_content=True):
                buffer += chunk
                *lines, buffer = buffer.split(b"\n")
                for line in lines:
                    if line.strip():
                        event = json.loads(line)
                        yield str(event["type"]), event["object"]
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ClusterError(f"watch of {path} broke off: {error}") from None
        finally:
            response.release_conn()

    def execute(
        self,
        namespace: str,
        pod: str,
        command: list[str],
        container: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Standard output and error of a command in a running pod; ClusterError when it cannot be started."""
        extra = {"container": container} if container else {}
        try:
            # The client's websocket takes certificates from files only.
            with credentials.with_files(self._kubeconfig, self.context) as configuration:
                core = client.CoreV1Api(client.ApiClient(configuration))
                return str(
                    stream(
                        core.connect_get_namespaced_pod_exec,
                        pod,
                        namespace,
                        command=command,
                        stderr=True,
                        stdin=False,
                        stdout=True,
                        tty=False,
                        _request_timeout=timeout or self.timeout,
                        **extra,
                    )
                )
        except ApiException as error:
            raise ClusterError(
                f"exec in {namespace}/{pod} failed: {error.reason}", error.status or 0
            ) from None

    def logs(self, namespace: str, pod: str, tail: int = 200, container: str = "") -> str:
        """Last lines of the log of a pod's container; without a name it must have only one."""
        named = {"container": container} if container else {}
        return self.text(f"/api/v1/namespaces/{namespace}/pods/{pod}/log", tailLines=tail, **named)

    def _json(self, method: str, path: str, params: Mapping[str, Any], body: Json | None = None) -> Json:
        answer = self._call(method, path, params, body).data
        try:
            data: Json = json.loads(answer)
        except ValueError:
            raise ClusterError(
                f"{method} {path}: context {self.context!r} answered {answer[:80]!r}; "
                "expected an API server's JSON; correct the server in the kubeconfig"
            ) from None
        return data

    def _call(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any],
        body: Json | None = None,
        timeout: float | None = None,
        content_type: str = "application/json",
        accept: str = "application/json, */*",
    ) -> urllib3.BaseHTTPResponse:
        settings: Any = self._settings
        url = f"{settings.host}{path}" + (f"?{urlencode(params)}" if params else "")
        headers = {"Accept": accept, "Content-Type": content_type}
        # Asked for at each call: it also refreshes short-lived tokens of exec plugins.
        token = settings.get_api_key_with_prefix("authorization") or settings.get_api_key_with_prefix(
            "BearerToken"
        )
        if token:
            headers["Authorization"] = token
        try:
            answer = self._http.request(
                method,
                url,
                headers=headers,
                body=json.dumps(body) if body is not None else None,
                timeout=timeout or self.timeout,
                preload_content=timeout is None,
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ClusterError(
                f"API server of context {self.context!r} does not answer ({method} {path}): {error}"
            ) from None
        if answer.status >= 400:
            raise ClusterError(_refusal(method, path, answer), answer.status)
        return answer


def _pool(settings: Any, tls: ssl.SSLContext, context: str) -> urllib3.PoolManager:
    if not settings.verify_ssl:
        raise ClusterError(
            f"context {context!r} turns TLS verification off (insecure-skip-tls-verify); give its CA instead"
        )
    options: Json = {
        "ssl_context": tls,
        "cert_reqs": "CERT_REQUIRED",
        # A connection may be tried again; a refused certificate is refused again.
        "retries": urllib3.Retry(total=2, connect=2, read=0, redirect=0, other=0, backoff_factor=0.2),
        "maxsize": 4,
    }
    if getattr(settings, "tls_server_name", None):
        options["server_hostname"] = settings.tls_server_name
    proxy = _proxy(settings)
    if not proxy:
        return urllib3.PoolManager(**options)
    try:
        return urllib3.ProxyManager(proxy, **options)
    except urllib3.exceptions.HTTPError:
        # Without what stands before the @: it may be a password.
        scheme, _, rest = proxy.rpartition("://")
        shown = f"{scheme}://{rest.rpartition('@')[2]}" if scheme else rest.rpartition("@")[2]
        raise ClusterError(
            f"context {context!r}: found proxy {shown!r}; expected http://<host>:<port> or https://…; "
            "set proxy-url in the kubeconfig (without one: HTTPS_PROXY) to such a proxy, "
            "or name the API server's host in NO_PROXY to reach it directly"
        ) from None


def _proxy(settings: Any) -> str:
    """The proxy between us and the API server, "" for none.

    The client takes it from the environment, too, but minds NO_PROXY only in its own requests.
    """
    if not settings.proxy or should_bypass_proxies(settings.host, settings.no_proxy or ""):
        return ""
    return str(settings.proxy)


def _refusal(method: str, path: str, answer: urllib3.BaseHTTPResponse) -> str:
    try:
        said = json.loads(answer.data)
        # Behind the API server's proxy others answer, too: Prometheus has another word for it.
        message = said.get("message") or said["error"]
    except (TypeError, ValueError, KeyError):
        message = answer.reason or "refused"
    return f"{method} {path}: {answer.status} {message}"
