"""Who may do what in the control plane: service accounts, and roles of users and groups."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints

from components.config.types import Section, Text

# cluster, tenant, department/<name> or project/<name>
Scope = Annotated[
    str, StringConstraints(pattern=r"^(cluster|tenant|(department|project)/[a-z0-9][-a-z0-9]*)$")
]


class Grant(Section):
    """A role, by its name in the control plane, and where it holds."""

    role: Text
    scope: Scope = "cluster"


class ServiceAccount(Section):
    """A machine's identity with its roles; its secret is a stack output, encrypted."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][-_a-z0-9]*[a-z0-9]$")]
    grants: tuple[Grant, ...] = ()


class AccessRule(Section):
    """A role of a user or a group, by the name that the control plane knows them by."""

    subject: Text
    subject_type: Literal["user", "group"] = "user"
    role: Text
    scope: Scope = "cluster"
