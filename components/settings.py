"""The settings of a stack, read once and checked completely before any resource is declared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, ValidationError

from components.catalog import Catalog
from components.config import local, secrets, source
from components.config.errors import SettingsError, from_validation
from components.config.model import Settings
from components.config.rules import check


def load(env: Mapping[str, str], catalog: Catalog, root: Path) -> Settings:
    """Read, type and cross-check the settings; `root` is where relative paths start.

    Raises SettingsError with one line per problem; rules between settings are looked at only when each
    setting by itself is right.
    """
    raw = source.read(env)
    try:
        settings = Settings.model_validate_json(json.dumps(local.renamed(raw.values, env)))
    except ValidationError as error:
        raise from_validation(error, field_names(Settings), raw.secret, secrets.places(Settings)) from None
    problems = list(check(settings, catalog, root, raw.secret))
    if problems:
        raise SettingsError(problems)
    return settings


def field_names(model: type[BaseModel], place: tuple[str, ...] = ()) -> dict[tuple[str, ...], list[str]]:
    """Place of each section → the keys it knows, for the advice on unknown keys."""
    names = {place: [field.alias or name for name, field in model.model_fields.items()]}
    for name, field in model.model_fields.items():
        for section in _sections(field.annotation):
            names |= field_names(section, (*place, field.alias or name))
    return names


def _sections(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _sections(argument)]
