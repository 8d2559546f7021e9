"""Takes secrets out of a bundle: by value where a Secret of the cluster holds it, by shape everywhere.

A value is looked for as it is, in base64 and as part of a URL. Short values are left to the shapes: taken out
by value, `true` or `admin` would make everything unreadable.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from validation import redact
from validation.redact import GONE

Json = dict[str, Any]
SHORTEST = 8
# Public by nature, though in a Secret: certificates, and what names the namespace.
_PUBLIC = {"tls.crt", "ca.crt", "ca-cert.pem", "server-cert.pem", "namespace", "release"}
# A line of a key in PEM.
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{40,}")


def values(secrets: Iterable[Json]) -> set[str]:
    """The values of Secrets as the API lists them, also of JSON fields inside of them."""
    found: set[str] = set()
    for secret in secrets:
        for key, encoded in (secret.get("data") or {}).items():
            if key in _PUBLIC or str(secret.get("type", "")).startswith("helm.sh/"):
                continue
            try:
                text = base64.b64decode(encoded, validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                continue
            found |= {text, text.strip(), *_inner(text)}
    return {value for value in found if len(value) >= SHORTEST}


def _inner(text: str) -> set[str]:
    """Passwords of a docker configuration and the like; lines of a block such as a key."""
    try:
        node = json.loads(text)
    except ValueError:
        return {line.strip() for line in text.splitlines() if _KEY_LINE.fullmatch(line.strip())}
    return set(_strings(node, ""))


def _strings(node: Any, name: str) -> Iterable[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _strings(value, str(key))
    elif isinstance(node, list):
        for value in node:
            yield from _strings(value, name)
    elif isinstance(node, str) and (redact.SECRET_NAME.search(name) or name == "auth"):
        yield node


class Scrubber:
    """Cleans texts; `values` are secrets that are known to the letter."""

    def __init__(self, known: Iterable[str]) -> None:
        forms = {form for value in known for form in _forms(value)}
        # The longest first: a value may contain another.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def clean(self, text: str) -> str:
        """The text without secrets; JSON stays JSON."""
        # First by value: what a shape takes out may hold only a part of it.
        known = self._known.sub(GONE, text) if self._known else text
        return redact.document(known)


def _forms(value: str) -> set[str]:
    escaped = json.dumps(value)[1:-1]
    coded = base64.b64encode(value.encode()).decode()
    return {value, escaped, quote(value, safe=""), quote(value), coded, coded.rstrip("=")}
