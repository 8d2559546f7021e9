"""The API client against a small HTTPS server: verbs, errors, watch, and what it refuses."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from validation.cluster import Cluster, ClusterError
from validation.foreign import foreign_ca

pytestmark = pytest.mark.req("E3")


class Api(BaseHTTPRequestHandler):
    """Answers a few paths; remembers what it was asked."""

    asked: list[tuple[str, str, str | None, Any]] = []  # noqa: RUF012

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def answer(self, code: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.asked.append((self.command, self.path, self.headers.get("Authorization"), body))
        if self.path.startswith("/api/v1/events?watch=true"):
            # More is promised than comes: the server goes away in the middle.
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b'{"type": "ADDED", "object": {}}\n')
            self.close_connection = True
        elif self.path.startswith("/api/v1/pods?watch=true"):
            self.send_response(200)
            self.end_headers()
            for name in ("a", "b"):
                event = json.dumps({"type": "ADDED", "object": {"metadata": {"name": name}}}).encode()
                # In two pieces, as the network may cut it.
                self.wfile.write(event[:9])
                self.wfile.flush()
                self.wfile.write(event[9:] + b"\n")
            self.close_connection = True
        elif self.path.startswith("/api/v1/pods"):
            self.answer(200, {"items": [{"metadata": {"name": "p"}}], "echo": body})
        elif self.path.startswith("/forbidden"):
            self.answer(403, {"message": "pods is forbidden: violates PodSecurity"})
        else:
            self.answer(404, {"message": "not found"})

    do_GET = do_POST = do_DELETE = handle_any  # noqa: N815


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    folder = tmp_path_factory.mktemp("api")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "ca.pem").write_bytes(pem)
    (folder / "all.pem").write_bytes(secret + pem)
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "all.pem")
    httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield httpd.server_address[1], folder
    httpd.shutdown()


def kubeconfig(where: tuple[int, Path], **changes: Any) -> str:
    port, folder = where
    about = {
        "server": f"https://127.0.0.1:{port}",
        "certificate-authority": str(folder / "ca.pem"),
        **changes,
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": about}],
        "users": [{"name": "u", "user": {"token": "sesame"}}],
        "contexts": [{"name": "there", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "there",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return str(path)


@pytest.fixture
def cluster(server: tuple[int, Path]) -> Cluster:
    Api.asked.clear()
    return Cluster(kubeconfig(server), "there")


def test_verbs_send_the_token_and_the_parameters(cluster: Cluster) -> None:
    assert cluster.items("/api/v1/pods", labelSelector="a=b,c=d") == [{"metadata": {"name": "p"}}]
    assert cluster.create("/api/v1/pods", {"kind": "Pod"}, dry_run=True)["echo"] == {"kind": "Pod"}
    assert cluster.delete("/api/v1/pods/p", grace_seconds=0)
    get, post, delete = Api.asked
    assert get[:3] == ("GET", "/api/v1/pods?labelSelector=a%3Db%2Cc%3Dd", "Bearer sesame")
    assert post[1] == "/api/v1/pods?dryRun=All"
    assert delete[3]["gracePeriodSeconds"] == 0


def test_absence_is_no_error_and_refusal_is(cluster: Cluster) -> None:
    assert cluster.find("/nowhere") is None
    assert cluster.items("/apis/kind.not/v1/served") == []
    assert cluster.delete("/nowhere") is False
    with pytest.raises(
        ClusterError, match="GET /forbidden: 403 pods is forbidden: violates PodSecurity"
    ) as caught:
        cluster.get("/forbidden")
    assert caught.value.status == 403


def test_a_watch_puts_cut_lines_together(cluster: Cluster) -> None:
    seen = [(kind, thing["metadata"]["name"]) for kind, thing in cluster.watch("/api/v1/pods", 1)]
    assert seen == [("ADDED", "a"), ("ADDED", "b")]


def test_a_watch_that_breaks_off_is_told_as_any_other_failure(cluster: Cluster) -> None:
    """Who watches for hours goes on with a new watch; another kind of error would end the watcher."""
    with pytest.raises(ClusterError, match="watch of /api/v1/events broke off"):
        list(cluster.watch("/api/v1/events", 1))


def test_the_context_is_always_named(server: tuple[int, Path]) -> None:
    path = kubeconfig(server)
    with pytest.raises(ClusterError, match="'elsewhere' cannot be read from"):
        Cluster(path, "elsewhere")
    with pytest.raises(ClusterError, match="no context given"):
        Cluster(path, "")
    with pytest.raises(ClusterError, match="cannot be read from"):
        Cluster(str(Path(path).parent / "missing"), "there")


def test_tls_verification_is_never_off(server: tuple[int, Path]) -> None:
    path = kubeconfig(server, **{"insecure-skip-tls-verify": True})
    with pytest.raises(ClusterError, match="give its CA instead"):
        Cluster(path, "there")


def test_a_server_that_is_not_there_is_named(server: tuple[int, Path]) -> None:
    cluster = Cluster(kubeconfig(server, server="https://127.0.0.1:1"), "there", timeout=1)
    with pytest.raises(ClusterError, match="API server of context 'there' does not answer") as caught:
        cluster.get("/version")
    assert caught.value.status == 0


@pytest.mark.req("V1")
def test_the_servers_certificate_is_seen_only_when_it_is_trusted(server: tuple[int, Path]) -> None:
    shown = x509.load_der_x509_certificate(Cluster(kubeconfig(server), "there").certificate())
    assert shown == x509.load_pem_x509_certificate((server[1] / "ca.pem").read_bytes())
    other = server[1] / "other.pem"
    other.write_text(foreign_ca())
    with pytest.raises(ClusterError, match="certificate verify failed"):
        Cluster(kubeconfig(server, **{"certificate-authority": str(other)}), "there").certificate()


@pytest.mark.req("V1")
def test_a_server_behind_a_proxy_or_without_tls_shows_no_certificate(server: tuple[int, Path]) -> None:
    for change, how in (
        ({"proxy-url": "http://127.0.0.1:9"}, "by a proxy"),
        ({"server": "http://127.0.0.1:9"}, "at"),
    ):
        with pytest.raises(ClusterError, match=f"reached {how}"):
            Cluster(kubeconfig(server, **change), "there").certificate()


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy"])
def test_a_server_that_no_proxy_names_is_reached_directly(
    variable: str, server: tuple[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    # Nobody listens there: what goes through it fails.
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    with pytest.raises(ClusterError, match="does not answer"):
        Cluster(kubeconfig(server), "there", timeout=2).get("/api/v1/pods")
    monkeypatch.setenv("NO_PROXY", "other.test,127.0.0.0/8")
    direct = Cluster(kubeconfig(server), "there")
    assert direct.get("/api/v1/pods")["items"]
    assert direct.certificate()


@pytest.mark.parametrize(
    ("proxy", "shown"),
    [
        ("socks5://127.0.0.1:9", "socks5://127.0.0.1:9"),
        ("socks5://me:sesame@127.0.0.1:9", "socks5://127.0.0.1:9"),
        ("me:sesame@proxy.test:3128", "proxy.test:3128"),
    ],
)
def test_a_proxy_that_speaks_no_http_is_named_without_its_password(
    proxy: str, shown: str, server: tuple[int, Path]
) -> None:
    said = f"'there': found proxy '{shown}'; expected http://<host>:<port> or https://…; set proxy-url"
    with pytest.raises(ClusterError, match=said) as caught:
        Cluster(kubeconfig(server, **{"proxy-url": proxy}), "there")
    assert "sesame" not in str(caught.value)
