"""Waits until KAI says that it runs as configured: conditions true, and true of the newest Config."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.cluster import Cluster
from components.kai.inputs import CONFIG
from components.polling import until

CONDITIONS = ("Deployed", "Available")
# The provider waits for these by itself; it does not compare a condition's observedGeneration.
WAIT_FOR = (
    "["
    + ", ".join(
        f'"jsonpath={{.status.conditions[?(@.type==\\"{name}\\")].status}}=True"' for name in CONDITIONS
    )
    + "]"
)


class SchedulerError(pulumi.RunError):
    """KAI does not become ready."""


@dataclass
class KaiGate:
    """Polls kai-config and the shards. Times in seconds."""

    cluster: Cluster
    timeout: float = 240.0
    pause: float = 2.0
    say: Callable[[str], None] = pulumi.log.info
    clock: Callable[[], float] = time.monotonic

    async def ready(self, shards: Sequence[str], preview: bool) -> bool:
        """True once every condition of Config and shards holds for its current generation.

        A preview never waits. Raises SchedulerError with the operator's own message after `timeout`.
        """
        if preview:
            return True
        await until(
            lambda: self._wrong(shards), "KAI", self._late, self.timeout, self.pause, self.say, self.clock
        )
        return True

    def _late(self, reason: str) -> SchedulerError:
        return SchedulerError(
            f"KAI: found {reason} after {self.timeout:g} s; expected {' and '.join(CONDITIONS)}; "
            "look at deployment kai-operator in namespace kai-scheduler"
        )

    def _wrong(self, shards: Sequence[str]) -> list[str]:
        objects = [("configs", CONFIG), *(("schedulingshards", name) for name in shards)]
        return [
            f"{name}: {text}"
            for plural, name in objects
            for text in unmet(self.cluster.custom_object("kai.scheduler", "v1", plural, name))
        ]


def unmet(found: dict[str, Any] | None) -> list[str]:
    """One text per condition that is missing, false, or about an older generation."""
    if found is None:
        return ["no such object"]
    generation = found["metadata"]["generation"]
    conditions = {item["type"]: item for item in found.get("status", {}).get("conditions", [])}
    wrong = []
    for name in CONDITIONS:
        item = conditions.get(name)
        if item is None:
            wrong.append(f"{name} not reported")
        elif item["status"] != "True":
            message = " ".join(item.get("message", "").split())
            wrong.append(f"{name} is {item['status']} ({message})")
        elif item.get("observedGeneration", 0) < generation:
            wrong.append(f"{name} of generation {item.get('observedGeneration', 0)}, now {generation}")
    return wrong
