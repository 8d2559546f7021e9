"""What a backup has to know of a stack: its control plane, who may ask there, and whose the database is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from components.config.errors import NAMESPACE
from components.config.full import ControlPlane
from components.runai.access import Access
from components.runai.credentials import access
from day2.backup.document import BackupError, Plane
from day2.state import ask
from validation.outputs import from_stack, resolved
from validation.settings import load

Json = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """`cluster` is the uuid of the only cluster that this stack may speak of, empty for all of them.

    `elsewhere` says why the database is not this stack's to save, and is empty where it is.
    """

    stack: str
    plane: Plane
    access: Access
    cluster: str
    elsewhere: str
    kubeconfig: str
    context: str
    accounts: frozenset[str] = field(default_factory=frozenset)


def read(stack: str, root: Path) -> Source:
    """The stack's outputs and settings. Raises BackupError, OutputsError, StateError, ApiError."""
    outputs = load(resolved(from_stack(stack, root), root))
    if outputs.profile != "full" or not outputs.controlPlane.url:
        raise BackupError(
            f"stack {stack}: found profile {outputs.profile} without a control plane; expected profile full; "
            "departments and projects of modular are in its stack file, and `pulumi up --refresh` makes them"
        )
    config = ask(["config", "--json", "--show-secrets"], stack, root)
    section = _setting(config, "controlPlane") or {}
    settings = _typed(section, stack)
    cluster = outputs.controlPlane.clusterId
    if settings.source != "install" and not cluster:
        raise BackupError(
            f"stack {stack}: found neither a control plane nor a cluster in its outputs; expected one; "
            "run `pulumi up` to its end"
        )
    at = {"url": outputs.controlPlane.url, "ca": outputs.controlPlane.ca}
    return Source(
        stack,
        Plane(url=outputs.controlPlane.url, version=outputs.controlPlane.version),
        access(section, at),
        "" if settings.source == "install" else cluster,
        elsewhere(settings),
        outputs.kubeconfig,
        outputs.context,
        frozenset(str(item["name"]) for item in _setting(config, "serviceAccounts") or ()),
    )


def elsewhere(settings: ControlPlane) -> str:
    """Why the control plane's database is not this stack's to save; empty where it is."""
    if settings.source != "install":
        return "the control plane belongs to another stack, which saves its database"
    if settings.postgresql is not None:
        return f"external PostgreSQL at {settings.postgresql.host}: its owner saves it"
    if (settings.values.get("postgresql") or {}).get("enabled") is False:
        return "controlPlane.values name an external PostgreSQL: its owner saves it"
    return ""


def _setting(config: Json, key: str) -> Any:
    entry = config.get(f"{NAMESPACE}:{key}") or {}
    if "objectValue" in entry:
        return entry["objectValue"]
    return json.loads(entry["value"]) if entry.get("value") else None


def _typed(section: Json, stack: str) -> ControlPlane:
    try:
        # Strict as the program's own reading is: lists of JSON are tuples there.
        return ControlPlane.model_validate_json(json.dumps(section))
    except ValidationError as error:
        keys = ", ".join(sorted({str(item["loc"][0]) for item in error.errors(include_input=False)}))
        raise BackupError(
            f"{NAMESPACE}:controlPlane of stack {stack}: found what the program refuses, at {keys}; expected "
            "settings that `pulumi preview` takes; correct them"
        ) from None
