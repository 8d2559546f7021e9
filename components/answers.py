"""What urllib3 says when a server gave no answer, in words."""

from __future__ import annotations

from dataclasses import dataclass

import urllib3


@dataclass(frozen=True)
class Lost:
    """Why no answer came; `untrusted` says that the server's certificate was refused."""

    text: str
    untrusted: bool


def lost(error: urllib3.exceptions.HTTPError) -> Lost:
    """The error's cause; that of the last of several tries."""
    reason = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) else error
    text = " ".join(str(reason).split())
    refused = isinstance(reason, urllib3.exceptions.SSLError) or "CERTIFICATE_VERIFY_FAILED" in text
    return Lost(text, refused)
