"""Certificates from files: read for the stack, and checked before anything is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from components.config.errors import Problem
from components.config.serving import Certificate, Tls
from components.tls.material import Certificates, Pair, key_problem, leads_to, load, names


def certificates(settings: Tls, domains: Mapping[str, str], root: Path) -> Certificates:
    """What the files hold; they were checked before. Raises OSError when one is gone since."""
    used = _used(settings, domains)
    pairs = {use: Pair(_text(item.certificate, root), _key(item, root)) for use, item in used}
    return Certificates(pairs, _text(settings.ca, root) if settings.ca else "")


def problems(settings: Tls, domains: Mapping[str, str], root: Path) -> Iterator[Problem]:
    """One problem for the CA, or the first one of each certificate."""
    cas: list[x509.Certificate] = []
    if settings.ca:
        try:
            cas = load(_text(settings.ca, root))
        except (OSError, ValueError):
            yield _unreadable("tls.ca", settings.ca, "a PEM file with the CA's certificate")
            return
    for use, item in _used(settings, domains):
        yield from _certificate(f"tls.{use}", item, f"*.{domains[use]}", cas, root)


def host_problems(path: str, item: Certificate, host: str, root: Path) -> Iterator[Problem]:
    """The first problem of a certificate for one name, which it may also cover by a wildcard."""
    yield from _certificate(path, item, host, [], root)


def pair(item: Certificate | None, root: Path) -> Pair | None:
    """Certificate and key, if there are any; they were checked before."""
    return None if item is None else Pair(_text(item.certificate, root), _key(item, root))


def text(name: str, root: Path) -> str:
    """The PEM text of a file, "" for no name."""
    return _text(name, root) if name else ""


def _used(settings: Tls, domains: Mapping[str, str]) -> Iterator[tuple[str, Certificate]]:
    for use in domains:
        item: Certificate | None = getattr(settings, use)
        if item is not None:
            yield use, item


def _certificate(
    path: str, item: Certificate, name: str, cas: list[x509.Certificate], root: Path
) -> Iterator[Problem]:
    file = f"{path}.certificate"
    try:
        chain = load(_text(item.certificate, root))
    except (OSError, ValueError):
        yield _unreadable(file, item.certificate, "a PEM file with the certificate")
        return
    try:
        key = _key(item, root)
    except (OSError, ValueError):
        yield _unreadable(f"{path}.keyFile", item.key_file, "a PEM file with the private key")
        return
    leaf = chain[0]
    begin, end = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    if wrong := key_problem(leaf, key):
        where = f"{path}.keyFile" if item.key_file else f"{path}.key"
        expected = f"the private key of {item.certificate}, in PEM without a password"
        yield Problem(where, wrong, expected, "replace it")
    elif not {name, f"*.{name.partition('.')[2]}"} & set(names(leaf)):
        found = ", ".join(names(leaf)) or "no DNS name"
        yield Problem(file, found, f"the name {name}", "have it issued for that, or change the domain")
    elif not begin <= datetime.now(UTC) < end:
        span = f"valid from {begin:%Y-%m-%d} to {end:%Y-%m-%d}"
        yield Problem(file, span, "a certificate that is valid now", "have it renewed")
    elif cas and not leads_to(chain, cas):
        found = f"issued by {chain[-1].issuer.rfc4514_string() or 'nobody'}"
        advice = "append the certificates between it and the CA, or correct tls.ca"
        yield Problem(file, found, "a chain that leads to tls.ca", advice)


def _unreadable(path: str, name: str, expected: str) -> Problem:
    return Problem(path, f'"{name}"', expected, "correct the path or the file")


def _key(item: Certificate, root: Path) -> str:
    return _text(item.key_file, root) if item.key_file else item.key.get_secret_value()


def _text(name: str, root: Path) -> str:
    # A file that is no text is no PEM either: ValueError, as for any other.
    return (root / Path(name).expanduser()).read_text(encoding="ascii")
