"""V1: certificates of KAI's webhooks."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

from cryptography import x509

from validation import names
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]


def certificates(at: Snapshot) -> Json:
    """Days left of the certificates of KAI's webhooks (self-signed: the API server trusts the same ones)."""
    days: Json = {}
    for path in (names.MUTATING_WEBHOOKS, names.VALIDATING_WEBHOOKS):
        for config in at.cluster.items(path):
            for hook in config.get("webhooks") or []:
                client = hook.get("clientConfig") or {}
                if _of_kai(at, client) and client.get("caBundle"):
                    days[config["metadata"]["name"]] = _days_left(client["caBundle"])
    fewest = min(days.values(), default=None)
    why = [f"webhook configuration {name}" for name, left in days.items() if left == fewest]
    return {"fewestDays": fewest, "days": days, "why": why or ["no webhook of KAI has a certificate"]}


def _of_kai(at: Snapshot, client: Json) -> bool:
    namespace = ((at.config or {}).get("spec", {}) or {}).get("namespace") or "kai-scheduler"
    return bool((client.get("service") or {}).get("namespace") == namespace)


def _days_left(bundle: str) -> int:
    loaded = x509.load_pem_x509_certificates(base64.b64decode(bundle))
    return min((c.not_valid_after_utc - datetime.now(UTC)).days for c in loaded)
