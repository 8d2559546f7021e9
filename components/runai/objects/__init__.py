"""The control plane's objects, each with what makes, reads, changes and removes it, by name."""

from __future__ import annotations

from components.runai.objects.access_rules import AccessRules
from components.runai.objects.base import Kind
from components.runai.objects.departments import Departments
from components.runai.objects.node_pools import NodePools
from components.runai.objects.projects import Projects
from components.runai.objects.registration import Registrations
from components.runai.objects.service_accounts import ServiceAccounts

KINDS: dict[str, Kind] = {
    "AccessRule": AccessRules(),
    "Department": Departments(),
    "NodePool": NodePools(),
    "Project": Projects(),
    "Registration": Registrations(),
    "ServiceAccount": ServiceAccounts(),
}

__all__ = ["KINDS", "Kind"]
