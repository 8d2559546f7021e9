"""What the double knows: clusters, pools, departments, projects, accounts, rules, tokens, workloads."""

from __future__ import annotations

import itertools
import secrets
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.contract.control_plane.behind import Behind
from tests.contract.control_plane.failures import FailureError, Journal
from tests.contract.control_plane.options import Options

Json = dict[str, Any]
TENANT = 1001
ADMINISTRATOR = "System administrator"


@dataclass
class State:
    """Everything by id; `allowed` are the clients that have an access rule."""

    options: Options
    journal: Journal = field(default_factory=Journal)
    clusters: dict[str, Json] = field(default_factory=dict)
    installed: dict[str, float] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    node_pools: dict[str, Json] = field(default_factory=dict)
    departments: dict[str, Json] = field(default_factory=dict)
    projects: dict[str, Json] = field(default_factory=dict)
    accounts: dict[str, Json] = field(default_factory=dict)
    rules: dict[int, Json] = field(default_factory=dict)
    workloads: dict[str, Json] = field(default_factory=dict)
    cluster: Behind | None = None
    tokens: dict[str, tuple[str, float]] = field(default_factory=dict)
    numbers: Iterable[int] = field(default_factory=lambda: itertools.count(1))
    roles: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Roles that every control plane has; names as in the documentation, ids invented."""
        for number, name in enumerate((ADMINISTRATOR, "Department administrator", "L1 researcher"), 1):
            self.roles.append(
                {
                    "id": number,
                    "name": name,
                    "description": name,
                    "custom": False,
                    "effectiveEnabled": True,
                    "permissions": [],
                    "createdBy": "system",
                    **stamps(),
                }
            )

    def page(self, items: list[Json], key: str, offset: int, limit: int, told: bool = True) -> Json:
        """One page, at most as long as the double gives; `next` only where the API has it."""
        end = offset + min(limit, self.options.page)
        following = {"next": end} if told and end < len(items) else {}
        return {key: items[offset:end], **following}


def stamps() -> Json:
    """Times of making and changing."""
    now = moment()
    return {"createdAt": now, "updatedAt": now}


def moment() -> str:
    """Now, as the API writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def clock() -> float:
    """Seconds that only go forward."""
    return time.monotonic()


def new_id() -> str:
    """A UUID."""
    return str(uuid.uuid4())


def new_secret() -> str:
    """What nobody can guess."""
    return secrets.token_urlsafe(24)


def found(items: dict[str, Json], id_: str, what: str) -> Json:
    """The object, or 404."""
    if id_ not in items:
        raise FailureError(404, f"{what} {id_} not found")
    return items[id_]


def filtered(items: Iterable[Json], filters: list[str]) -> list[Json]:
    """Items that meet every `field==value`; other operators are not doubled and are a 400."""
    kept = list(items)
    for text in filters:
        name, equals, value = text.partition("==")
        if not equals:
            raise FailureError(400, f"filterBy {text}: only == is doubled")
        kept = [item for item in kept if str(item.get(name)) == value]
    return kept
