"""Waits until Knative really serves: every Deployment rolled out, and its webhook takes a Service."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pulumi

from components.cluster import Cluster, DeploymentFacts
from components.kai.inputs import RESTRICTED_CONTEXT
from components.knative.inputs import DEPLOYMENTS, NAMESPACE
from components.labels import ours
from components.polling import until

GROUP, VERSION, PLURAL = "serving.knative.dev", "v1", "services"
SERVING = ("operator.knative.dev", "v1beta1", NAMESPACE, "knativeservings")
# Never made: the API server only asks the webhooks about it. They look whether its pod would be admitted.
_TRIAL: dict[str, Any] = {
    "apiVersion": f"{GROUP}/{VERSION}",
    "kind": "Service",
    "metadata": {"name": "runai-kit-trial", "namespace": NAMESPACE},
    "spec": {
        "template": {
            "spec": {"containers": [{"image": "kind.local/none:0", "securityContext": RESTRICTED_CONTEXT}]}
        }
    },
}


class KnativeError(pulumi.RunError):
    """Knative does not become ready, or is somebody else's."""


@dataclass
class KnativeGate:
    """Polls Knative's Deployments, then its webhook. Times in seconds."""

    cluster: Cluster
    timeout: float = 300.0
    pause: float = 2.0
    say: Callable[[str], None] = pulumi.log.info
    clock: Callable[[], float] = time.monotonic

    async def ready(self, preview: bool) -> bool:
        """True once a Knative Service would be taken. A preview never waits.

        Raises KnativeError with what is still missing after `timeout`.
        """
        if preview:
            return True
        await until(self._wrong, "Knative", self._late, self.timeout, self.pause, self.say, self.clock)
        return True

    def _late(self, reason: str) -> KnativeError:
        return KnativeError(
            f"Knative: found {reason} after {self.timeout:g} s; expected "
            f"{len(DEPLOYMENTS)} Deployments available and a webhook that answers; "
            f"look at the pods in namespace {NAMESPACE}"
        )

    def _wrong(self) -> list[str]:
        found = {item.name: item for item in self.cluster.deployments(NAMESPACE)}
        wrong = [f"{name}: {text}" for name in DEPLOYMENTS if (text := unmet(found.get(name)))]
        if wrong:
            return wrong
        refusal = self.cluster.refusal(GROUP, VERSION, NAMESPACE, PLURAL, _TRIAL)
        return [f"webhook: {refusal}"] if refusal else []


def unmet(found: DeploymentFacts | None) -> str:
    """What keeps a Deployment from being rolled out, or nothing."""
    if found is None:
        return "no such Deployment"
    if found.observed < found.generation:
        return f"generation {found.observed} seen of {found.generation}"
    if found.updated < found.wanted:
        return f"{found.updated} of {found.wanted} updated"
    if found.available < found.wanted or not found.wanted:
        return f"{found.available} of {found.wanted} available"
    return ""


def refuse_foreign(cluster: Cluster) -> None:
    """Somebody else's Knative is not taken over: destroying the stack would take it away.

    Raises KnativeError. An operator's Deployments carry its own labels: then the KnativeServing tells.
    """
    controllers = [item for item in cluster.deployments(NAMESPACE) if item.name == "controller"]
    if all(ours(item.labels) for item in controllers):
        return
    serving = cluster.namespaced_object(*SERVING, NAMESPACE)
    if serving is not None and ours(serving["metadata"].get("labels", {})):
        return
    raise KnativeError(
        f"namespace {NAMESPACE}: found a Deployment controller that this kit did not make; expected none; "
        "set runai-kit:knative.enabled to false and use what is there, or remove it first. "
        "Nothing was changed."
    )
