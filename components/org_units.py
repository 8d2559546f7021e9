"""The org tree in the control plane: node pools, departments, projects, service accounts and their roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from components.config.org import Department as DepartmentSettings
from components.config.people import AccessRule as RuleSettings
from components.config.people import ServiceAccount as AccountSettings
from components.config.sections import NodePools
from components.config.types import UNLIMITED
from components.remote import AccessRule, Department, NodePool, Project, Remote, ServiceAccount
from components.shares import ResolvedQuota

Json = dict[str, Any]
DEFAULT_POOL = "default"


@dataclass(frozen=True)
class Tree:
    """What the settings say; a project's namespace is `prefix` and its name."""

    departments: tuple[DepartmentSettings, ...]
    node_pools: NodePools
    accounts: tuple[AccountSettings, ...]
    rules: tuple[RuleSettings, ...]
    prefix: str


@dataclass(frozen=True)
class Place:
    """`at` is `{url, ca}` of the control plane; the cluster's uuid, and the tenant's number as text."""

    at: pulumi.Input[Json]
    cluster: pulumi.Input[str]
    tenant: pulumi.Input[str]


class OrgUnits(pulumi.ComponentResource):
    """Everything that hangs below a registered cluster; `quotas` are known only when the capacity is."""

    def __init__(
        self,
        name: str,
        tree: Tree,
        place: Place,
        quotas: pulumi.Output[Mapping[str, ResolvedQuota]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("runai-kit:components:OrgUnits", name, None, opts)
        self._tree, self._place, self._quotas = tree, place, quotas
        self.pools = [self._pool(pool.name) for pool in tree.node_pools.pools]
        self.departments: dict[str, Remote] = {}
        self.projects: dict[str, Remote] = {}
        for department in tree.departments:
            self._department(department)
        self.accounts = {account.name: self._account(account) for account in tree.accounts}
        for rule in tree.rules:
            self._rule(f"{rule.subject}-{rule.role}-{rule.scope}", rule.subject, rule.subject_type, rule)
        self.register_outputs({})

    def _options(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(after))

    def _pool(self, name: str) -> NodePool:
        pools = self._tree.node_pools
        (pool,) = [item for item in pools.pools if item.name == name]
        wanted: dict[str, pulumi.Input[Any]] = {
            "clusterId": self._place.cluster,
            "name": name,
            "labelKey": pools.label_key,
            "labelValue": name,
            "gpuPlacement": pool.placement.gpu,
            "cpuPlacement": pool.placement.cpu,
        }
        return NodePool(f"node-pool-{name}", self._place.at, wanted, self._options())

    def _department(self, department: DepartmentSettings) -> None:
        pool = department.node_pool or DEFAULT_POOL
        names = [project.name for project in department.projects]
        wanted: dict[str, pulumi.Input[Any]] = {
            "clusterId": self._place.cluster,
            "name": department.name,
            "quotas": self._quotas.apply(
                lambda known: [department_quota(pool, department.name, names, known)]
            ),
        }
        made = Department(f"department-{department.name}", self._place.at, wanted, self._options(*self.pools))
        self.departments[department.name] = made
        for name in names:
            self._project(name, pool, made)

    def _project(self, name: str, pool: str, above: Remote) -> None:
        wanted: dict[str, pulumi.Input[Any]] = {
            "clusterId": self._place.cluster,
            "name": name,
            "departmentId": above.id,
            "namespace": f"{self._tree.prefix}{name}",
            "quotas": self._quotas.apply(lambda known: [quota(pool, known[name])]),
        }
        self.projects[name] = Project(f"project-{name}", self._place.at, wanted, self._options())

    def _account(self, account: AccountSettings) -> ServiceAccount:
        made = ServiceAccount(
            f"service-account-{account.name}",
            self._place.at,
            {"name": account.name, "enabled": True},
            self._options(),
        )
        for grant in account.grants:
            self._rule(f"{account.name}-{grant.role}-{grant.scope}", made.id, "service-account", grant)
        return made

    def _rule(self, name: str, subject: pulumi.Input[str], kind: str, grant: Any) -> None:
        scope, scope_id = self._scope(grant.scope)
        wanted: dict[str, pulumi.Input[Any]] = {
            "subject": subject,
            "subjectType": kind,
            "role": grant.role,
            "scopeType": scope,
            "scopeId": scope_id,
            "clusterId": self._place.cluster,
        }
        AccessRule(f"access-rule-{name}", self._place.at, wanted, self._options())

    def _scope(self, text: str) -> tuple[str, pulumi.Input[str]]:
        scope, _, name = text.partition("/")
        if scope == "department":
            return scope, self.departments[name].id
        if scope == "project":
            return scope, self.projects[name].id
        return scope, self._place.cluster if scope == "cluster" else self._place.tenant


def quota(pool: str, resolved: ResolvedQuota) -> Json:
    """A quota as the kinds take it."""
    return {"nodePool": pool, **resolved.output()}


def department_quota(pool: str, name: str, projects: list[str], known: Mapping[str, ResolvedQuota]) -> Json:
    """A department that deserves without bound gets what its projects were promised.

    The API knows no unlimited quota, and a department without one leaves its projects' workloads pending.
    """
    resolved = known[name]
    if resolved.deserved == UNLIMITED:
        below = sum(max(known[project].deserved, 0) for project in projects)
        resolved = ResolvedQuota(below, resolved.limit, resolved.weight)
    return quota(pool, resolved)
