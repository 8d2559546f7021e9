"""Certificates of a private CA whose key is thrown away: for clusters that exist for trying things out.

They are kept in the cluster's Secrets and nowhere else; a run states again what it finds there, as long as
it is good, so that only a reason makes new ones. All of one making are signed by one CA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from components.config.serving import Tls
from components.tls.material import Certificates, Pair, key_problem, leads_to, load, names, remaining

# Clocks of machines differ.
_SKEW = timedelta(minutes=5)
_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)


def certificates(
    settings: Tls, domains: Mapping[str, str], kept: Callable[[str], Mapping[str, str]]
) -> Certificates:
    """Those kept in the cluster if they are good, else new ones. `kept` gives a Secret's texts by use."""
    secrets = {use: kept(use) for use in domains}
    if all(secrets.values()):
        found = Certificates(
            {use: Pair(texts.get("tls.crt", ""), texts.get("tls.key", "")) for use, texts in secrets.items()},
            next(iter(secrets.values())).get("ca.crt", ""),
            next(iter(secrets.values())).get("rotation", ""),
        )
        one_ca = len({(texts.get("ca.crt"), texts.get("rotation")) for texts in secrets.values()}) == 1
        if one_ca and good(found, settings, domains):
            return found
    return make(domains, settings.days, settings.rotation)


def good(found: Certificates, settings: Tls, domains: Mapping[str, str]) -> bool:
    """Of this rotation, whole, for these domains, and not about to end."""
    if found.rotation != settings.rotation:
        return False
    try:
        cas = load(found.ca)
        chains = {use: load(pair.chain) for use, pair in found.pairs.items()}
    except ValueError:
        return False
    least = timedelta(days=settings.renew_before_days)
    return all(
        f"*.{domains[use]}" in names(chain[0])
        and not key_problem(chain[0], found.pairs[use].key)
        and leads_to(chain, cas)
        and min(remaining(item) for item in [*chain, *cas]) > least
        for use, chain in chains.items()
    )


def make(domains: Mapping[str, str], days: int, rotation: str) -> Certificates:
    """A new CA and a wildcard certificate for each domain."""
    authority = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "runai-kit test CA")])
    ca = (
        _builder(subject, subject, authority.public_key(), days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage("key_cert_sign", "crl_sign"), critical=True)
        .sign(authority, hashes.SHA256())
    )
    pairs = {use: _leaf(domain, days, ca, authority) for use, domain in domains.items()}
    return Certificates(pairs, _pem(ca), rotation)


def _leaf(domain: str, days: int, ca: x509.Certificate, authority: ec.EllipticCurvePrivateKey) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    # A common name holds 64 characters at most, a domain may be longer: the name is in the extension.
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "runai-kit wildcard")])
    certificate = (
        _builder(subject, ca.subject, key.public_key(), days)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(f"*.{domain}")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage("digital_signature"), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False
        )
        .sign(authority, hashes.SHA256())
    )
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Pair(_pem(certificate), text)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*allowed: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{name: name in allowed for name in _USAGES})


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()
