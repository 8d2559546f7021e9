"""KAI Resource Management: KAI Scheduler with controllers that keep queues, node pools and their shards."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from components.addons.base import Addon
from components.addons.inputs import AddonInputs
from components.addons.resource_values import department, node_pool, project, values
from components.charts import ChartSource
from components.cluster import ClusterFacts
from components.config.org import Department
from components.kai.reservation import reservation_account
from components.labels import metadata
from components.shares import ResolvedQuota

NAME = "kai-resource-management"
_API = "kai.resources/v1alpha1"


class ResourceManagement(Addon):
    """Account and release → node pools → departments → projects, these by `org` once their quotas are known.

    A destroy goes the other way, after the projects' namespaces with their workloads: KRM refuses to lose a
    project that runs something, and a department that has projects.
    """

    def __init__(
        self,
        inputs: AddonInputs,
        source: ChartSource,
        facts: ClusterFacts,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(NAME, inputs, source, opts)
        # KAI comes inside the chart, by the values that its own takes: the account is the stack's here, too.
        account = reservation_account(inputs.pull_secret, self.child([]))
        release = self.release(values(inputs, facts), [account])
        pools = inputs.settings.node_pools
        self._ready: list[pulumi.Resource] = [
            release,
            *(
                self._object(
                    "NodePool", item.name, node_pool(pools.label_key, item.name, item.placement), [release]
                )
                for item in pools.pools
            ),
        ]
        # The engine resolves it when the chart's hooks are through: Config and KRMConfig are applied.
        self.ready: pulumi.Output[bool] = release.id.apply(lambda _: True)
        self.register_outputs({})

    def org(self, quotas: pulumi.Output[Mapping[str, ResolvedQuota]]) -> list[pulumi.Resource]:
        """Declare departments and their projects; a project waits by itself until its namespace is there."""
        made: list[pulumi.Resource] = []
        prefix = self.inputs.catalog.project_namespace.prefix
        for item in self.inputs.settings.departments:
            above = self._object(
                "Department", item.name, quotas.apply(partial(_department, item)), self._ready
            )
            made.append(above)
            for team in item.projects:
                spec = quotas.apply(partial(_project, item, team.name, f"{prefix}{team.name}"))
                made.append(self._object("Project", team.name, spec, [above]))
        return made

    def _object(
        self, kind: str, name: str, spec: pulumi.Input[object], after: list[pulumi.Resource]
    ) -> CustomResource:
        return CustomResource(
            f"{kind.lower()}-{name}",
            api_version=_API,
            kind=kind,
            metadata=metadata(name),
            spec=spec,
            opts=self.child(after),
        )


def _department(item: Department, known: Mapping[str, ResolvedQuota]) -> dict[str, Any]:
    return department(item, known[item.name])


def _project(
    above: Department, name: str, namespace: str, known: Mapping[str, ResolvedQuota]
) -> dict[str, Any]:
    return project(name, above, namespace, known[name])
