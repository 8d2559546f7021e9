"""What every chart generation's values are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from components.config.addons import Sharing
from components.config.sections import PlacementStrategy, TimeBasedFairShare

NAME = "kai-scheduler"
QUEUE_LABEL = "kai.scheduler/queue"
RESERVATION = "kai-resource-reservation"
CONFIG = "kai-config"

# Passes the `restricted` level. KAI's own default drops "all" in lower case, which that level refuses.
RESTRICTED_CONTEXT: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "runAsUser": 10000,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@dataclass(frozen=True)
class KaiInputs:
    """Settings and catalog, reduced to what KAI takes.

    `registry` and `tag` are those of its images; `prometheus_url` is empty without monitoring.
    """

    registry: str
    tag: str
    namespace: str
    namespace_selector: Mapping[str, str]
    sharing: Sharing
    placement: PlacementStrategy
    replicas: int
    leader_election: bool
    runtime_class: str
    node_pool_label_key: str
    pull_secret: str = ""
    fair_share: TimeBasedFairShare | None = None
    prometheus_url: str = ""
    capacity_queries: Mapping[str, str] | None = None


class Generation(Protocol):
    """A chart generation: Helm values, and what the stack says about Config itself."""

    @property
    def INSTALL_ONLY(self) -> tuple[str, ...]:  # noqa: N802 (a module's constant)
        """Paths of Helm values whose later changes go through Config alone."""
        ...

    @property
    def OWN_ACCOUNT(self) -> bool:  # noqa: N802 (a module's constant)
        """Whether the stack declares the reservation pods' account instead of the chart."""
        ...

    def values(self, kai: KaiInputs) -> dict[str, Any]:
        """Helm values."""
        ...

    def config(self, kai: KaiInputs) -> dict[str, Any]:
        """Spec of Config, or those fields of it that the chart does not apply itself."""
        ...
