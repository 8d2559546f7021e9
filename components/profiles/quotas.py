"""Capacity, quotas and the org tree as both profiles state them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pulumi

from components.capacity import by_pool, given
from components.cluster import NodeFacts
from components.shares import ResolvedQueues, resolve_all

if TYPE_CHECKING:
    from components.platform import Platform


def capacity(on: Platform) -> pulumi.Output[Mapping[str, int]]:
    """GPUs per node pool: counted on the nodes, or given."""
    if on.settings.capacity.source == "setting":
        return pulumi.Output.from_input(given(on.settings))
    known: pulumi.Output[Sequence[NodeFacts]] = (
        on.gpu_nodes if on.gpu_nodes is not None else pulumi.Output.from_input(list(on.facts.nodes))
    )
    return known.apply(lambda found: by_pool(found, on.settings.node_pools))


def resolve(on: Platform, gpus: Mapping[str, int]) -> ResolvedQueues:
    """Quotas in GPUs; warns where more is promised than there is."""
    resolved = resolve_all(on.settings, gpus)
    for warning in resolved.warnings:
        pulumi.log.warn(warning, on)
    return resolved


def departments(on: Platform, resolved: ResolvedQueues) -> list[dict[str, Any]]:
    """Departments as the outputs tell them."""
    return [
        {
            "name": item.name,
            "queue": item.name,
            "gpu": resolved.quotas[item.name].output(),
            "nodePool": item.node_pool,
        }
        for item in on.settings.departments
    ]


def projects(on: Platform, resolved: ResolvedQueues) -> list[dict[str, Any]]:
    """Projects as the outputs tell them."""
    prefix = on.catalog.project_namespace.prefix
    return [
        {
            "name": project.name,
            "department": department.name,
            "namespace": f"{prefix}{project.name}",
            "queue": project.name,
            "gpu": resolved.quotas[project.name].output(),
            "nodePool": department.node_pool,
        }
        for department, project in on.settings.projects()
    ]
