"""Finds the credentials for a control plane in the stack's configuration, when they are needed.

Dynamic resources keep their inputs in the state and run in a process of their own: they are given the
address and the CA, and read the secrets here, from what the engine decrypts for that process.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from components.runai.access import Access
from components.runai.client import Json

KEY = "runai-kit:controlPlane"
# The first user where the settings name none.
ADMIN = "admin@run.ai"


def section(config: Callable[[str], object]) -> Json:
    """The control plane's section; `config` gives the text of a setting, secrets decrypted."""
    text = config(KEY)
    found: Json = json.loads(text) if isinstance(text, str) and text else {}
    return found


def access(known: Json, at: Json) -> Access:
    """`known` is that section, `at` is `{url, ca}`. Raises ApiError without credentials."""
    account: Json = known.get("access") or {}
    admin: Json = known.get("admin") or {}
    return Access(
        url=at["url"],
        ca=at.get("ca", ""),
        client_id=account.get("clientId", ""),
        client_secret=account.get("clientSecret", ""),
        username=admin.get("username", ADMIN),
        password=admin.get("password", ""),
    )
