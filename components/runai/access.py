"""Where a control plane answers, whom to trust there, and who asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from components.runai.errors import ApiError

# The first user has no service account yet; the CLI's own client may use the password grant.
# Source: facts on tokens, marked S (generated client of 2.24), not stated for 3.0.
_CLI = "cli"


@dataclass(frozen=True)
class Access:
    """`url` without a path; `ca` is PEM text, empty for the public CAs; secrets never show in a repr.

    `client_id` with `client_secret` is a service account or access key; else `username` with `password`.
    """

    url: str
    ca: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Raises ApiError for an address without TLS, and for no credentials."""
        if not self.url.startswith("https://"):
            raise ApiError(
                self.url, "no https address", "https://<host>", "correct the control plane's domain"
            )
        if not (self.client_secret or self.password):
            raise ApiError(
                self.url,
                "no credentials",
                "a service account's client id and secret, or a user and password",
                "set runai-kit:controlPlane.access or runai-kit:controlPlane.admin",
            )

    def grant(self) -> Mapping[str, str]:
        """The form of `POST /api/v2/token`, RFC 6749 names."""
        if self.client_secret:
            return {
                "grant_type": "client_credentials",
                "client_id": self.client_id,
                "client_secret": self.client_secret,
            }
        return {
            "grant_type": "password",
            "client_id": _CLI,
            "username": self.username,
            "password": self.password,
        }

    @property
    def who(self) -> str:
        """Who asks, for messages."""
        return f"client {self.client_id}" if self.client_secret else f"user {self.username}"
