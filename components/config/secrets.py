"""Secrets among the settings: where they are, and that none stands in the clear."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import get_args

from pydantic import BaseModel, SecretStr

from components.config.errors import Problem, path_of

Place = tuple[str, ...]


@cache
def places(model: type[BaseModel]) -> frozenset[Place]:
    """Keys that lead to a secret, list indices left out: `("registry", "password")`."""
    return frozenset(_below(model, ()))


def plain_texts(settings: BaseModel, secret: frozenset[str]) -> Iterator[Problem]:
    """One problem per secret below a top-level key that the stack file does not store encrypted."""
    for location in _filled(settings, ()):
        if location[0] not in secret:
            path = path_of(location)
            yield Problem(
                path,
                "plain text",
                "an encrypted value",
                f"pulumi config set --secret --path runai-kit:{path}, with a new one: this was readable",
            )


def _below(annotation: object, place: Place) -> Iterator[Place]:
    if annotation is SecretStr:
        yield place
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            yield from _below(field.annotation, (*place, field.alias or name))
    else:
        for argument in get_args(annotation):
            yield from _below(argument, place)


def _filled(value: object, location: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, SecretStr) and value.get_secret_value():
        yield location
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            yield from _filled(getattr(value, name), (*location, field.alias or name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _filled(item, (*location, str(key)))
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from _filled(item, (*location, index))
