"""An OCI registry of this machine, with TLS: Debian's docker-registry and a certificate made for it."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

BINARY = "docker-registry"
_HOST = "127.0.0.1"


@dataclass(frozen=True)
class Registry:
    """`address` is host and port; `ca` the file that programs find by SSL_CERT_FILE."""

    address: str
    ca: Path

    def environment(self) -> dict[str, str]:
        """The caller's environment, in which Go programs trust this registry and no other."""
        return {**os.environ, "SSL_CERT_FILE": str(self.ca)}

    def run(self, *words: str) -> str:
        """A program's standard output. Raises subprocess.CalledProcessError with its words in `stderr`."""
        done = subprocess.run(
            words, env=self.environment(), capture_output=True, text=True, timeout=300, check=True
        )
        return done.stdout


@contextmanager
def registry(folder: Path) -> Iterator[Registry]:
    """Run one with its data below `folder`, until the block ends. Raises OSError without the program."""
    folder.mkdir(parents=True, exist_ok=True)
    ca, certificate, key = _certificate(folder)
    port = _free_port()
    config = {
        "version": 0.1,
        "storage": {"filesystem": {"rootdirectory": str(folder / "data")}},
        "http": {"addr": f"{_HOST}:{port}", "tls": {"certificate": str(certificate), "key": str(key)}},
    }
    (folder / "config.yml").write_text(yaml.safe_dump(config))
    with (folder / "log").open("w") as log:
        command = [BINARY, "serve", str(folder / "config.yml")]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(f"https://{_HOST}:{port}/v2/", ca, process)
            yield Registry(f"{_HOST}:{port}", ca)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait(address: str, ca: Path, process: subprocess.Popen[bytes]) -> None:
    context = ssl.create_default_context(cafile=str(ca))
    for _ in range(100):
        if process.poll() is not None:
            raise RuntimeError(f"{BINARY} ended with status {process.returncode}")
        try:
            urllib.request.urlopen(address, context=context, timeout=3)
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{address}: no answer within ten seconds")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _certificate(folder: Path) -> tuple[Path, Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "registry of a test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(_HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "ca.pem", folder / "certificate.pem", folder / "key.pem"
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    files[0].write_bytes(pem)
    files[1].write_bytes(pem)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    files[2].write_bytes(private)
    return files
