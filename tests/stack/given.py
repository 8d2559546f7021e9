"""Settings as the program is given them, made from the examples; and the catalog that they refer to."""

from __future__ import annotations

import copy
import json
from typing import Any

from components.catalog import load_catalog
from components.config.model import Settings

CATALOG = load_catalog()


def changed(base: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with the value at a dotted path set (`scheduler.version`, `departments.0.name`), or removed."""
    result = copy.deepcopy(base)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    node: Any = result
    for part in parents:
        node = node.setdefault(part, {}) if isinstance(part, str) else node[part]
    if value is ...:
        del node[last]
    else:
        node[last] = value
    return result


def engine_env(values: dict[str, Any], secret: list[str] | None = None) -> dict[str, str]:
    """What the engine hands to the program for such a stack file."""
    texts = {
        f"runai-kit:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
    }
    keys = [f"runai-kit:{key}" for key in secret or []]
    return {"PULUMI_CONFIG": json.dumps(texts), "PULUMI_CONFIG_SECRET_KEYS": json.dumps(keys)}


def settings(values: dict[str, Any]) -> Settings:
    """Typed settings, without the rules that look at files."""
    return Settings.model_validate_json(json.dumps(values))
