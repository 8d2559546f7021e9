"""A private CA and a real HTTPS server on this machine, for what speaks TLS."""

from __future__ import annotations

import datetime
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from validation.ingress import Ingress

HOST = "runai-kit-llm-runai-team-a.inference.apps.local.test"
Respond = Callable[[BaseHTTPRequestHandler, bytes], None]


class Authority:
    """A CA that lives for the test."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        made = self._builder(self._name, self._key.public_key()).add_extension(constraints, critical=True)
        self.certificate = made.sign(self._key, hashes.SHA256())

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, host: str, folder: Path, days: int = 1) -> Path:
        """A PEM file with key and certificate for one host."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        builder = self._builder(subject, key.public_key(), days).add_extension(names, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        file = folder / f"{host}.pem"
        file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
        return file

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, days: int = 1
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=2))
            .not_valid_after(now + datetime.timedelta(days=days))
        )


@contextmanager
def served(respond: Respond, folder: Path, host: str = HOST, days: int = 1) -> Iterator[Ingress]:
    """An HTTPS server for `host` on a free port; `respond` answers GET and POST."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            respond(self, self.rfile.read(length))

        do_POST = do_DELETE = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    authority = Authority("kit test CA")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.issue(host, folder, days))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Ingress("127.0.0.1", server.server_port, authority.pem)
    finally:
        server.shutdown()
        server.server_close()


def say(handler: BaseHTTPRequestHandler, status: int, body: bytes, kind: str = "application/json") -> None:
    """A whole answer."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
