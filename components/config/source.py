"""Reads the settings' raw values from what the Pulumi engine hands to the program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from components.config.errors import NAMESPACE

_PREFIX = f"{NAMESPACE}:"


@dataclass(frozen=True)
class Raw:
    """`values` by top-level key; `secret` are the keys that the stack file stores encrypted (in part)."""

    values: dict[str, object]
    secret: frozenset[str]


def read(env: Mapping[str, str]) -> Raw:
    """All keys `runai-kit:*`, known or not.

    The engine passes PULUMI_CONFIG, a JSON object of texts: scalars as they are, mappings and lists as
    JSON. Keys of other namespaces are none of our business.
    """
    texts: dict[str, str] = json.loads(env.get("PULUMI_CONFIG") or "{}")
    secret: list[str] = json.loads(env.get("PULUMI_CONFIG_SECRET_KEYS") or "[]")
    return Raw(
        {key.removeprefix(_PREFIX): _value(text) for key, text in texts.items() if key.startswith(_PREFIX)},
        frozenset(key.removeprefix(_PREFIX) for key in secret if key.startswith(_PREFIX)),
    )


def _value(text: str) -> object:
    if not text.startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
