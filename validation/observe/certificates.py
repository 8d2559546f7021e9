"""V1: days left of certificates: KAI's and Knative's webhooks, and the API server's own."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

from cryptography import x509

from validation import names
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]


def certificates(at: Snapshot) -> Json:
    """Of KAI's webhooks (self-signed: the API server trusts the same ones). Nobody renews them."""
    namespace = ((at.config or {}).get("spec", {}) or {}).get("namespace") or "kai-scheduler"
    return _of_webhooks(at, namespace)


def knative(at: Snapshot) -> Json:
    """Of Knative's webhooks. It makes them for a week and renews them on the last day."""
    return _of_webhooks(at, at.outputs.inference.namespace) if at.outputs.inference.enabled else {}


def api_server(at: Snapshot) -> Json:
    """Of the certificate that the API server shows, verified as at any other call."""
    shown = x509.load_der_x509_certificate(at.cluster.certificate())
    return {"days": _days(shown), "issuer": shown.issuer.rfc4514_string()}


def days_left(pem: bytes) -> int | None:
    """Of the certificate of a PEM text that ends first; None when it cannot be read."""
    try:
        loaded = x509.load_pem_x509_certificates(pem)
    except ValueError:
        return None
    return min(map(_days, loaded))


def _of_webhooks(at: Snapshot, namespace: str) -> Json:
    """By configuration, where its service is in the namespace; the fewest of all."""
    found: dict[str, int | None] = {}
    for path in (names.MUTATING_WEBHOOKS, names.VALIDATING_WEBHOOKS):
        for config in at.cluster.items(path):
            for hook in config.get("webhooks") or []:
                client = hook.get("clientConfig") or {}
                here = (client.get("service") or {}).get("namespace") == namespace
                if here and client.get("caBundle"):
                    found[config["metadata"]["name"]] = days_left(base64.b64decode(client["caBundle"]))
    # One that cannot be read is no certificate: it counts as ended.
    fewest = min((-1 if days is None else days for days in found.values()), default=None)
    why = [f"webhook configuration {name}" for name, left in found.items() if left in {None, fewest}]
    none = [f"no webhook of {namespace} has a certificate"]
    return {"fewestDays": fewest, "days": found, "why": why or none}


def _days(certificate: x509.Certificate) -> int:
    return (certificate.not_valid_after_utc - datetime.now(UTC)).days
