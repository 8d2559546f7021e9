"""Departments and projects as KAI queues: a parent for each department, a child for each project."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from components.config.org import Department
from components.labels import PROJECT_KEY, metadata
from components.shares import ResolvedQuota

# Unset means "nothing allowed" to KAI, not "no limit": all three resources are always stated.
_UNBOUNDED = {"quota": -1, "limit": -1, "overQuotaWeight": 1}


class Queues(pulumi.ComponentResource):
    """Queues for the org tree; `quotas` are known only when the capacity is."""

    def __init__(
        self,
        name: str,
        departments: tuple[Department, ...],
        quotas: pulumi.Output[Mapping[str, ResolvedQuota]],
        pool_label_key: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("runai-kit:components:Queues", name, None, opts)
        for department in departments:
            labels = {pool_label_key: department.node_pool} if department.node_pool else {}
            above = self._queue(department.name, "", quotas, labels, [])
            for project in department.projects:
                self._queue(
                    project.name, department.name, quotas, labels | {PROJECT_KEY: project.name}, [above]
                )
        self.register_outputs({})

    def _queue(
        self,
        name: str,
        parent_queue: str,
        quotas: pulumi.Output[Mapping[str, ResolvedQuota]],
        labels: dict[str, str],
        after: list[CustomResource],
    ) -> CustomResource:
        spec = quotas.apply(lambda known: queue_spec(known[name], parent_queue))
        return CustomResource(
            f"queue-{name}",
            api_version="scheduling.run.ai/v2",
            kind="Queue",
            metadata=metadata(name, labels=labels),
            spec=spec,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(after)),
        )


def queue_spec(quota: ResolvedQuota, parent_queue: str) -> dict[str, object]:
    """Spec of a Queue; GPUs in devices, CPU in millicores and memory in MB without bounds."""
    numbers = quota.output()
    gpu = {
        "quota": numbers["deserved"],
        "limit": numbers["limit"],
        "overQuotaWeight": numbers["overQuotaWeight"],
    }
    parent = {"parentQueue": parent_queue} if parent_queue else {}
    return {**parent, "resources": {"gpu": gpu, "cpu": _UNBOUNDED, "memory": _UNBOUNDED}}
