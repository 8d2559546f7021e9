"""Holds what was asked and answered against openapi.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from tests.contract.control_plane.failures import Told

_FILE = Path(__file__).with_name("openapi.yaml")
Json = dict[str, Any]


def load() -> Json:
    """The document."""
    document: Json = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return document


def problems(document: Json, told: list[Told]) -> list[str]:
    """One line per request or answer that the document does not allow."""
    return [line for item in told for line in _one(document, item)]


def _one(document: Json, told: Told) -> Iterator[str]:
    here = f"{told.method} {told.path} → {told.status}"
    operation = _operation(document, told)
    if operation is None:
        yield f"{here}: not in the document"
        return
    responses = operation["responses"]
    # No gateway in front of the API is documented: it may be busy at any time.
    response = responses.get(str(told.status)) or (responses.get("default") if told.status >= 400 else None)
    if response is None and str(told.status) not in responses:
        yield f"{here}: no such status in the document"
        return
    if told.status < 300:
        yield from _body(document, f"{here} request", operation.get("requestBody"), told.request)
    yield from _body(document, f"{here} answer", _resolved(document, response or {}), told.answer)


def _operation(document: Json, told: Told) -> Json | None:
    for template, item in document["paths"].items():
        pattern = re.sub(r"\{[^}]+\}", "[^/]+", template)
        if re.fullmatch(pattern, told.path) and told.method.lower() in item:
            operation: Json = item[told.method.lower()]
            return operation
    return None


def _body(document: Json, where: str, body: Json | None, value: Any) -> Iterator[str]:
    schema = ((body or {}).get("content") or {}).get("application/json", {}).get("schema")
    if schema is None:
        return
    whole = schema | {"components": document["components"]}
    for error in Draft202012Validator(whole).iter_errors(value):
        yield f"{where}: {'/'.join(map(str, error.absolute_path))}: {error.message}"


def _resolved(document: Json, item: Json) -> Json:
    if "$ref" not in item:
        return item
    node: Any = document
    for part in item["$ref"].removeprefix("#/").split("/"):
        node = node[part]
    resolved: Json = node
    return resolved


def unmarked(document: Json) -> list[str]:
    """Fields of the schemas that do not say how they are known."""
    return list(_unmarked(document["components"]["schemas"], "", set(document["x-sources"])))


def _unmarked(node: Any, path: str, known: set[str]) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "properties":
                for name, field in value.items():
                    if field.get("x-mark") not in known:
                        yield f"{path}/{name}"
            yield from _unmarked(value, f"{path}/{key}", known)
