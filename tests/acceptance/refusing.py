"""Kubeconfigs that the live API server, or what stands in its place, refuses; and a stack that uses one."""

from __future__ import annotations

import base64
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from tests.acceptance import commands
from tests.acceptance.conftest import ROOT

Json = dict[str, Any]
PEM = serialization.Encoding.PEM


class Stack:
    """A stack of this project, in a folder and a backend of its own; its settings are another's, changed."""

    def __init__(self, folder: Path, name: str = "refused") -> None:
        self.name, self.folder = name, folder / "project"
        self.file = self.folder / "stacks" / f"Pulumi.{name}.yaml"
        self.file.parent.mkdir(parents=True)
        for item in ROOT.iterdir():
            if item.name not in {"stacks", ".git"}:
                (self.folder / item.name).symlink_to(item)
        (folder / "state").mkdir()
        self.environment = {**os.environ, "PULUMI_BACKEND_URL": f"file://{folder / 'state'}"}
        self.pulumi("stack", "init").well()
        self.salt = yaml.safe_load(self.file.read_text())["encryptionsalt"]

    def configure(self, changes: Json, base: str = "local") -> None:
        """Top-level keys of the settings as the base has them, but for `changes`; None leaves one out."""
        document = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{base}.yaml").read_text())
        document["encryptionsalt"] = self.salt
        for key, value in changes.items():
            document["config"][f"runai-kit:{key}"] = value
            if value is None:
                del document["config"][f"runai-kit:{key}"]
        self.file.write_text(yaml.safe_dump(document))

    def pulumi(self, *words: str, text: str = "") -> commands.Done:
        """Run `pulumi <words>` for this stack."""
        return commands.pulumi(
            *words,
            stack=self.name,
            folder=self.folder,
            env=self.environment,
            text=text,
            timeout=200,
        )

    def resources(self) -> list[str]:
        """Types of what the stack's state holds, without the stack itself."""
        held = (json.loads(self.pulumi("stack", "export").well().out)["deployment"] or {}).get(
            "resources", []
        )
        return [item["type"] for item in held if item["type"] != "pulumi:pulumi:Stack"]


class Authority:
    """A certificate authority, given as PEM, that signs client certificates."""

    def __init__(self, certificate: bytes, key: bytes) -> None:
        self.certificate = x509.load_pem_x509_certificate(certificate)
        loaded = serialization.load_pem_private_key(key, None)
        assert isinstance(loaded, rsa.RSAPrivateKey)
        self.key = loaded

    def user(self, name: str, group: str, ends: timedelta) -> Json:
        """A kubeconfig's user whose certificate ends that long from now."""
        key = rsa.generate_private_key(65537, 2048)
        subject = x509.Name(
            [
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, group),
                x509.NameAttribute(NameOID.COMMON_NAME, name),
            ]
        )
        now = datetime.now(UTC)
        usage = x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH])
        builder = x509.CertificateBuilder(self.certificate.subject, subject, key.public_key(), 7)
        builder = builder.not_valid_before(now - timedelta(days=2)).not_valid_after(now + ends)
        certificate = builder.add_extension(usage, critical=False).sign(self.key, hashes.SHA256())
        secret = key.private_bytes(
            PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        return {
            "client-certificate-data": base64.b64encode(certificate.public_bytes(PEM)).decode(),
            "client-key-data": base64.b64encode(secret).decode(),
        }


def another_authority(name: str) -> Authority:
    """One that the cluster has never heard of."""
    key = rsa.generate_private_key(65537, 2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    return Authority(made.public_bytes(PEM), secret)


def service_account_token(key: bytes, claims: Json) -> str:
    """A token as the API server signs it, with the claims given."""
    loaded = serialization.load_pem_private_key(key, None)
    assert isinstance(loaded, rsa.RSAPrivateKey)
    parts = [{"alg": "RS256", "typ": "JWT"}, claims]
    signed = ".".join(_base64url(json.dumps(part).encode()) for part in parts)
    signature = loaded.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{_base64url(signature)}"


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@contextmanager
def silent_server() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        held: list[socket.socket] = []

        def accept() -> None:
            while not stop.is_set():
                try:
                    held.append(listener.accept()[0])
                except TimeoutError:
                    continue

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stop.set()
            thread.join()
            for connection in held:
                connection.close()
