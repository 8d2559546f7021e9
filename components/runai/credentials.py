"""Finds the credentials for a control plane in the stack's configuration, when they are needed.

Dynamic resources keep their inputs in the state and run in a process of their own: they are given the address and
the CA, and read the secrets here, from what the engine decrypts for that process.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from components.runai.access import Access
from components.runai.client import Json

KEY = "runai-kit:controlPlane"


def access(config: Callable[[str], object], at: Json) -> Access:
    """`config` gives the text of a stack setting; `at` is `{url, ca}`. Raises ApiError without credentials."""
    text = config(KEY)
    section: Json = json.loads(text) if isinstance(text, str) and text else {}
    account: Json = section.get("access") or {}
    admin: Json = section.get("admin") or {}
    return Access(
        url=at["url"],
        ca=at.get("ca", ""),
        client_id=account.get("clientId", ""),
        client_secret=account.get("clientSecret", ""),
        username=admin.get("username", ""),
        password=admin.get("password", ""),
    )
