"""Who may do what in the control plane: service accounts, and roles of users and groups."""

from __future__ import annotations

from typing import Literal

from components.config.types import AccountName, Scope, Section, Text


class Grant(Section):
    """A role, by its name in the control plane, and where it holds."""

    role: Text
    scope: Scope = "cluster"


class ServiceAccount(Section):
    """A machine's identity with its roles; its secret is a stack output, encrypted."""

    name: AccountName
    grants: tuple[Grant, ...] = ()


class AccessRule(Section):
    """A role of a user or a group, by the name that the control plane knows them by."""

    subject: Text
    subject_type: Literal["user", "group"] = "user"
    role: Text
    scope: Scope = "cluster"
