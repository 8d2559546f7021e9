"""The lists that most observations need, fetched once each and only when asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from validation import names
from validation.cluster import Cluster
from validation.observe import capacity
from validation.settings import StackOutputs

Json = dict[str, Any]


class Snapshot:
    """One moment of a cluster. A new moment is a new Snapshot."""

    def __init__(self, cluster: Cluster, outputs: StackOutputs) -> None:
        self.cluster = cluster
        self.outputs = outputs

    @cached_property
    def pods(self) -> list[Json]:
        """All pods."""
        return self.cluster.items(names.PODS)

    @cached_property
    def nodes(self) -> list[Json]:
        """All nodes."""
        return self.cluster.items(names.NODES)

    @cached_property
    def queues(self) -> dict[str, Json]:
        """Queues by name."""
        return {q["metadata"]["name"]: q for q in self.cluster.items(names.QUEUES)}

    @cached_property
    def groups(self) -> list[Json]:
        """All PodGroups."""
        return self.cluster.items(names.POD_GROUPS)

    @cached_property
    def priorities(self) -> dict[str, int]:
        """Values of priority classes by name."""
        return {p["metadata"]["name"]: int(p["value"]) for p in self.cluster.items(names.PRIORITY_CLASSES)}

    @cached_property
    def config(self) -> Json | None:
        """KAI's Config."""
        return self.cluster.find(f"{names.CONFIGS}/kai-config")

    @cached_property
    def capacity(self) -> capacity.Capacity:
        """GPUs of the nodes that the settings allow."""
        bounds = self.outputs.validation
        pool = capacity.in_pool(self.nodes, self.outputs.nodePoolLabelKey, bounds.nodePool)
        return capacity.measure(pool, self.pods, bounds.maxGpus)

    @property
    def reservations(self) -> list[Json]:
        """KAI's reservation pods."""
        return [p for p in self.pods if p["metadata"]["namespace"] == self.outputs.reservationNamespace]

    def mine(self, test: str) -> list[Json]:
        """Pods of one test."""
        return [p for p in self.pods if (p["metadata"].get("labels") or {}).get(names.TEST_LABEL) == test]
