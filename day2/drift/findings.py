"""What `make drift` found, and how it is told."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from dataclasses import dataclass, field
from typing import Any

# Values of Secrets are told apart by digests that mean nothing outside of this run.
_KEY = os.urandom(32)
_LONGEST = 120


@dataclass(frozen=True)
class Finding:
    """A field of an object that is not as stated, or the whole object when `path` is empty."""

    subject: str
    path: str
    expected: str
    found: str
    by: str = ""

    def __str__(self) -> str:
        where = f" {self.path}" if self.path else ""
        who = f" (written by {self.by})" if self.by else ""
        return f"{self.subject}{where}: expected {self.expected}, found {self.found}{who}"


@dataclass
class Findings:
    """All of it. `unread`: what could not be looked at; `notes`: what is no drift and worth knowing."""

    drift: list[Finding] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    objects: int = 0

    def code(self) -> int:
        """0 no drift, 1 drift, 2 something could not be looked at, whatever else was found."""
        return 2 if self.unread else 1 if self.drift else 0

    def lines(self, stack: str) -> list[str]:
        """The report, one finding a line."""
        lines = [f"drift: {item}" for item in self.drift]
        lines += [f"could not look: {text}" for text in self.unread]
        lines += [f"note: {text}" for text in self.notes]
        count = f"{len(self.drift)} differences" if self.drift else "no drift"
        unread = f", {len(self.unread)} not looked at" if self.unread else ""
        advice = ""
        if self.drift:
            advice = f"; `pulumi up --refresh --stack {stack}` states the stack's own objects again"
        if any("[release " in item.subject for item in self.drift):
            advice += ", those of a release come back with its next upgrade or by hand"
        return [*lines, f"stack {stack}: {self.objects} objects compared: {count}{unread}{advice}"]


def shown(value: Any, secret: bool = False) -> str:
    """A value on one line; of a Secret only a digest."""
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, default=str)
    if secret:
        return f"digest {hmac.new(_KEY, text.encode(), hashlib.sha256).hexdigest()[:12]}"
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
