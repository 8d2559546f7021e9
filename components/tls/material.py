"""What a certificate consists of, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)


@dataclass(frozen=True)
class Pair:
    """PEM texts: `chain` is the certificate and those between it and the CA; `key` is never shown."""

    chain: str
    key: str = field(repr=False)


@dataclass(frozen=True)
class Certificates:
    """Certificates by use (inference, workspaces) and the PEM of the CA, "" for one everybody knows."""

    pairs: Mapping[str, Pair]
    ca: str = ""
    #: Why generated ones were made: another value makes new ones.
    rotation: str = ""


def load(pem: str) -> list[x509.Certificate]:
    """All certificates of a PEM text. Raises ValueError for a text without any."""
    return x509.load_pem_x509_certificates(pem.encode())


def key_problem(leaf: x509.Certificate, key: str) -> str:
    """Why the key is not the certificate's, or nothing."""
    try:
        private = load_pem_private_key(key.encode(), None)
    except TypeError:
        return "a key that is encrypted"
    except ValueError:
        return "no PEM private key"
    public = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if private.public_key().public_bytes(*public) != leaf.public_key().public_bytes(*public):
        return "the key of another certificate"
    return ""


def names(leaf: x509.Certificate) -> list[str]:
    """DNS names that the certificate is for; the subject's common name counts for nobody."""
    try:
        extension = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return [name.lower() for name in extension.value.get_values_for_type(x509.DNSName)]


def remaining(certificate: x509.Certificate, now: datetime | None = None) -> timedelta:
    """Time until the certificate ends, negative when it has."""
    return certificate.not_valid_after_utc - (now or datetime.now(UTC))


def leads_to(chain: list[x509.Certificate], cas: list[x509.Certificate]) -> bool:
    """Whether each certificate was signed by another one, from the first up to one of the CAs."""
    current, left = chain[0], list(chain[1:])
    while True:
        if any(_signed(current, ca) for ca in cas):
            return True
        above = next((item for item in left if _signed(current, item)), None)
        if above is None:
            return False
        left.remove(above)
        current = above


def _signed(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
        basic = issuer.extensions.get_extension_for_class(x509.BasicConstraints)
    except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
        return False
    return basic.value.ca
